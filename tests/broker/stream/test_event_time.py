"""Event time: moved by records alone, never back, and the same for a batch that is run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.stream.event_time import EventTime


def test_the_slowest_partition_with_records_moves_it(tmp_path: Path) -> None:
    time = EventTime(tmp_path)
    assert time.before(0) == {}
    time.passed(0, {("a", 0): 50, ("a", 1): 30, ("b", 0): 7, ("gone", 0): 9}, ["a", "b"])
    assert time.before(1) == {"a": 30, "b": 7}
    # Never back; a batch without records of a track leaves it.
    time.passed(1, {("a", 1): 20}, ["a", "b"])
    assert time.before(2) == {"a": 30, "b": 7}
    time.passed(2, {("a", 0): 60}, ["a"])
    assert (time.before(3), time.has_tracks) == ({"a": 60}, True)
    time.passed(3, {}, [])
    assert (time.before(4), time.has_tracks) == ({}, False)


def test_a_batch_that_is_run_again_begins_with_what_it_began_with(tmp_path: Path) -> None:
    time = EventTime(tmp_path)
    time.passed(4, {("a", 0): 5}, ["a"])
    time.passed(5, {("a", 0): 8}, ["a"])
    again = EventTime(tmp_path)
    assert again.has_tracks
    assert (again.before(5), again.before(6)) == ({"a": 5}, {"a": 8})
    again.passed(5, {("a", 0): 8}, ["a"])
    assert (again.before(5), again.before(6)) == ({"a": 5}, {"a": 8})


def test_a_damaged_file_is_told_and_left(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "event-time.json").write_text('{"batch": 4, "before": 7}')
    assert EventTime(tmp_path).before(5) == {}
    assert "event time begins anew" in caplog.text
