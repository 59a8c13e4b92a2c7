"""The draw of texts for readers: of each kind, with its place, and the same for a seed."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tools.prose.sample import NUMBERS, Text, drawn, main, texts


def test_all_kinds_are_drawn_with_their_places(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# A heading\n\nThis is a sentence of six words.\n\n```sh\n# no heading\n```\n")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "a.py").write_text('"""A module."""\n\n\ndef f():\n    """Return it.\n\n    More of it."""\n')
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    commands = (("init", "-q"), ("add", "."), ("commit", "-qm", "first"), ("commit", "-qm", "b: do", "--allow-empty"))
    for arguments in commands:
        subprocess.run([*git, *arguments], cwd=tmp_path, check=True)
    found = list(texts(tmp_path, "HEAD~1"))
    assert [(text.kind, text.words) for text in found if text.kind != "commit"] == [
        ("sentence", "This is a sentence of six words."),
        ("heading", "A heading"),
        ("docstring", "A module."),
        ("docstring", "Return it."),
    ]
    assert [text.words for text in found if text.kind == "commit"] == ["b: do"]
    assert {text.place for text in found if text.kind == "docstring"} == {"tools/a.py:1", "tools/a.py:5"}


def test_a_draw_has_the_number_of_each_kind() -> None:
    many = [Text(kind, str(place), f"word {place}") for kind in NUMBERS for place in range(50)]
    assert Counter(text.kind for text in drawn(many, 3)) == NUMBERS
    assert drawn(many, 3) == drawn(list(reversed(many)), 3) != drawn(many, 4)


def test_it_prints_a_draw_of_the_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "5", "--since", "HEAD"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 * (sum(NUMBERS.values()) - NUMBERS["commit"])
    assert lines[0].startswith("1. [docstring, ")
