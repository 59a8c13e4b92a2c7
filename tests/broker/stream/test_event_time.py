"""Event time: moved by records alone, never back, and the same for a batch that is run again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from broker.stream.event_time import EventTime

A, B = {"of-a": "a"}, {"of-b": "b"}
BOTH = {**A, **B, "also-of-a": "a"}


def test_the_slowest_partition_with_records_moves_it(tmp_path: Path) -> None:
    time = EventTime(tmp_path)
    assert time.before(0, BOTH) == {}
    time.passed(0, {("a", 0): 50, ("a", 1): 30, ("b", 0): 7, ("gone", 0): 9}, BOTH)
    assert time.before(1, BOTH) == time.marks == {"a": 30, "b": 7}
    # Never back; a batch without records of a time leaves it.
    time.passed(1, {("a", 1): 20}, BOTH)
    assert time.before(2, BOTH) == {"a": 30, "b": 7}
    assert time.before(2, A) == {"a": 30}
    time.passed(2, {("a", 0): 60}, A)
    assert (time.before(3, BOTH), time.has_times) == ({"a": 60}, True)
    time.passed(3, {}, {})
    assert (time.before(4, BOTH), time.has_times) == ({}, False)


def test_a_batch_that_is_run_again_begins_with_the_same_marks(tmp_path: Path) -> None:
    time = EventTime(tmp_path)
    time.passed(4, {("a", 0): 5}, A)
    time.passed(5, {("a", 0): 8}, A)
    again = EventTime(tmp_path)
    assert again.has_times
    assert (again.before(5, A), again.before(6, A)) == ({"a": 5}, {"a": 8})
    again.passed(5, {("a", 0): 8}, A)
    assert (again.before(5, A), again.before(6, A)) == ({"a": 5}, {"a": 8})


def test_a_file_of_form_1_has_its_marks_by_track(tmp_path: Path) -> None:
    noted = {"batch": 7, "before": {"of-a": 3}, "after": {"of-a": 5, "also-of-a": 6, "of-b": 2}, "tracks": ["of-a"]}
    (tmp_path / "event-time.json").write_text(json.dumps(noted))
    time = EventTime(tmp_path)
    assert time.has_times
    assert (time.before(7, BOTH), time.before(8, BOTH)) == ({"a": 3}, {"a": 6, "b": 2})
    assert time.before(8, {"other": "a"}) == {}
    time.passed(8, {("a", 0): 9}, A)
    assert EventTime(tmp_path).before(9, BOTH) == {"a": 9}
    assert EventTime(tmp_path).before(8, BOTH) == {"a": 5}


@pytest.mark.parametrize("text", ['{"batch": 4, "before": 7}', '{"v": 3, "batch": 4}', "[]", "{"])
def test_a_file_that_cannot_be_read_is_left_with_a_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    (tmp_path / "event-time.json").write_text(text)
    assert EventTime(tmp_path).before(5, A) == {}
    assert "event time begins anew" in caplog.text
