"""The ratchet: a file has no more findings than its baseline, and the baseline no more than the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.prose.baseline import above, baseline_text, below, counted, read_baseline, risen
from tools.prose.errors import ProseError
from tools.prose.finding import Finding

LONG = [Finding("a.md", line, "long", "x") for line in (1, 2)]


def test_more_findings_than_the_baseline_are_shown() -> None:
    assert above(LONG, {"a.md": {"long": 2}}) == []
    assert above(LONG, {"a.md": {"long": 1}}) == LONG
    assert above(LONG, {"b.md": {"long": 2}, "a.md": {"term": 2}}) == LONG


def test_a_baseline_that_is_too_high_is_named_with_the_command() -> None:
    baseline = {"a.md": {"long": 3, "term": 0}, "gone.md": {"term": 1}}
    first, second = below(LONG, baseline, None)
    assert first.startswith("a.md:1: baseline: long has 2 and may have 3: lower it with `python -m tools.prose ")
    assert second.startswith("gone.md:1: baseline: term has 0 and may have 1")
    assert list(below([], baseline, {"b.md"})) == []


def test_findings_may_move_between_files_but_not_grow() -> None:
    assert risen(LONG, {"b.md": {"long": 2}}) == []
    assert risen(LONG, {"b.md": {"long": 1, "term": 5}}) == ["long"]


def test_commits_have_no_baseline() -> None:
    commit = Finding("1a2b", 1, "commit", "x")
    assert counted([commit]) == {}
    assert above([commit], {"1a2b": {"commit": 1}}) == [commit]
    assert risen([commit], {}) == []


def test_it_is_read_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(baseline_text(counted(LONG)), encoding="utf-8")
    assert read_baseline(path) == {"a.md": {"long": 2}}
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(ProseError, match="take it from version control"):
        read_baseline(path)
