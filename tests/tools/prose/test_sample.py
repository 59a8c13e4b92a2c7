"""The draw of texts for readers: of each kind, with its place, and the same for a seed."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tools.prose.sample import NUMBERS, Text, drawn, main, texts


def test_all_kinds_are_drawn_with_their_places(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# A heading\n\nThis is a `sentence` of words.\n\n```sh\n# no heading\n```\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "cli.md").write_text("# Commands\n\nA page that a program makes.\n")
    (tmp_path / "docs" / "record.md").write_text("# A decision of some words\n\n## Status\n\n## Own\n")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "a.py").write_text('"""A module."""\n\n\ndef f():\n    """Return it.\n\n    More of it."""\n')
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    for subject in ("first", "b: do"):
        (tmp_path / "tools" / f"{subject[0]}.py").touch()
        subprocess.run([*git, "add", "."], cwd=tmp_path, check=True)
        subprocess.run([*git, "commit", "-qm", subject], cwd=tmp_path, check=True)
    found = list(texts(tmp_path, "HEAD~1"))
    assert [(text.kind, text.words, *text.surroundings) for text in found] == [
        ("heading", "A heading"),
        ("sentence", "This is a `sentence` of words.", "A heading"),
        ("heading", "A decision of some words"),
        ("heading", "Own", "A decision of some words"),
        ("docstring", "A module.", "tools/a.py"),
        ("docstring", "Return it.", "def f()"),
        ("commit", "b: do", "changes tools"),
    ]
    assert {text.place for text in found if text.kind == "docstring"} == {"tools/a.py:1", "tools/a.py:5"}


def test_a_draw_has_the_number_of_each_kind() -> None:
    many = [Text(kind, str(place), f"word {place}") for kind in NUMBERS for place in range(50)]
    assert Counter(text.kind for text in drawn(many, 3)) == NUMBERS
    assert drawn(many, 3) == drawn(list(reversed(many)), 3) != drawn(many, 4)


def test_it_prints_a_draw_of_the_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "5", "--since", "HEAD"]) == 0
    lines = capsys.readouterr().out.splitlines()
    texts_drawn = sum(NUMBERS.values()) - NUMBERS["commit"]
    assert [line.partition(". [")[0] for line in lines if ". [" in line[:5]] == [*map(str, range(1, texts_drawn + 1))]
    assert lines[0].startswith("1. [docstring, ")
    assert lines[1].startswith("   | ")
