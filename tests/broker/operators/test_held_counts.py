"""Counts of held objects: merged by part, kept over a restart, and no reason to stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.operators.held_counts import HeldCounts


def test_counts_are_merged_by_part_and_kept(tmp_path: Path) -> None:
    counts = HeldCounts(tmp_path)
    assert counts.total is None
    counts.keep({0: 3, 7: 2})
    counts.keep({7: 5})
    assert counts.total == 8
    assert HeldCounts(tmp_path).total == 8
    again = HeldCounts(tmp_path)
    again.keep({0: 0})
    assert again.total == 5


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', '{"1": null}', "\udcff"])
def test_a_damaged_file_is_no_count(text: str, tmp_path: Path) -> None:
    (tmp_path / "held.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert HeldCounts(tmp_path).total is None


def test_a_folder_that_cannot_be_written_costs_the_file_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    counts = HeldCounts(tmp_path / "missing")
    counts.keep({1: 4})
    assert counts.total == 4
    assert "cannot be written" in caplog.text
