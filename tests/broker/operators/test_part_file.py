"""Files of what parts told: merged by part, kept over a restart, and no reason to stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.operators.part_file import PartFile


def test_values_are_merged_by_part_and_kept(tmp_path: Path) -> None:
    own = PartFile(tmp_path / "own.json")
    assert own.by_part is None
    own.keep({0: {"a": 1}, 7: {}})
    own.keep({7: {"b": 2}})
    assert own.by_part == PartFile(tmp_path / "own.json").by_part == {0: {"a": 1}, 7: {"b": 2}}
    before = (tmp_path / "own.json").stat().st_mtime_ns
    own.keep({7: {"b": 2}})
    assert (tmp_path / "own.json").stat().st_mtime_ns == before


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', "\udcff"])
def test_a_damaged_file_has_no_values(text: str, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert PartFile(tmp_path / "own.json").by_part is None


def test_a_folder_that_cannot_be_written_costs_the_file_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    own = PartFile(tmp_path / "missing" / "own.json")
    own.keep({1: 4})
    assert own.by_part == {1: 4}
    assert "cannot be written" in caplog.text
