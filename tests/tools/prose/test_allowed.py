"""Exceptions: each names a rule and a reason, and covers its own findings alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.prose.allowed import ALLOWED_FILE, Exemption, read_exemptions, without_allowed
from tools.prose.errors import ProseError
from tools.prose.finding import Finding


def test_an_exception_covers_one_rule_in_its_files() -> None:
    exemption = Exemption("docs/*.md", "term", "'told'", "quoted")
    covered = Finding("docs/a.md", 1, "term", "'told': write reported")
    others = [
        Finding("README.md", 1, "term", "'told': write reported"),
        Finding("docs/a.md", 1, "long", "'told' ..."),
        Finding("docs/a.md", 1, "term", "'room': write capacity"),
    ]
    assert without_allowed([covered, *others], [exemption]) == others


def test_the_list_of_the_tree_is_short_and_has_reasons() -> None:
    assert 0 < len(read_exemptions(ALLOWED_FILE)) < 20


@pytest.mark.parametrize(
    "row",
    [
        'path = "a"\nrule = "none"\nwords = ""\nreason = "b"',
        'path = "a"\nrule = "term"\nwords = ""\nreason = ""',
        "x = 1",
    ],
)
def test_an_exception_without_rule_or_reason_is_refused(tmp_path: Path, row: str) -> None:
    path = tmp_path / "allowed.toml"
    path.write_text(f"[[allowed]]\n{row}\n", encoding="utf-8")
    with pytest.raises(ProseError):
        read_exemptions(path)
