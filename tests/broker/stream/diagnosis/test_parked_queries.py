"""Parked queries outlive the process, and not the version that was parked."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.stream.diagnosis.parked_queries import ParkedQueries


def test_what_is_parked_is_parked_after_a_restart_by_its_version_alone(tmp_path: Path) -> None:
    parked = ParkedQueries(tmp_path)
    assert parked.reason("late", 3) is None
    parked.add({("late", 3): "ends a batch", ("hauls", 4): "ends another"})
    parked.add({("late", 5): "ends a batch again"})
    for one in (parked, ParkedQueries(tmp_path)):
        assert [one.reason("late", version) for version in (3, 4, 5)] == ["ends a batch", None, "ends a batch again"]
        assert one.reason("hauls", 4) == "ends another"


def test_what_stands_no_more_is_forgotten(tmp_path: Path) -> None:
    parked = ParkedQueries(tmp_path)
    parked.add({("late", 3): "a", ("hauls", 4): "b", ("gone", 1): "c"})
    parked.keep({"late": 3, "hauls": 9})
    for one in (parked, ParkedQueries(tmp_path)):
        assert (one.reason("late", 3), one.reason("hauls", 4), one.reason("gone", 1)) == ("a", None, None)


@pytest.mark.parametrize("text", ["", "{", "{}x", '[{"id": "late"}]', "[7]"])
def test_a_file_that_cannot_be_read_is_said_and_left(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "parked.json").write_text(text, "utf-8")
    parked = ParkedQueries(tmp_path)
    assert parked.reason("late", 3) is None
    assert "cannot be read, and are found anew" in caplog.text
    parked.add({("late", 3): "ends a batch"})
    assert ParkedQueries(tmp_path).reason("late", 3) == "ends a batch"
