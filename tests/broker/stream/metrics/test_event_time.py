"""Event time: moved by records alone, never back, and the same for a batch that is run again."""

from __future__ import annotations

import json
import random
from itertools import accumulate
from pathlib import Path

import pytest

from asc.operators.times import FIRST_US, LAST_US
from broker.stream.metrics.event_time import EventTime

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


def test_a_partition_that_waits_counts_with_its_last_time(tmp_path: Path) -> None:
    time = EventTime(tmp_path)
    time.passed(0, {("a", 0): 50}, A, waiting={1})
    assert time.marks == {}
    time.passed(1, {("a", 1): 20}, A)
    assert time.marks == {"a": 20}
    time.passed(2, {("a", 0): 60}, A, waiting={1})
    assert time.marks == {"a": 20}
    time.passed(3, {("a", 0): 70, ("a", 1): 65}, A)
    again = EventTime(tmp_path)
    again.passed(4, {("a", 0): 80}, A, waiting={1})
    assert again.marks == {"a": 65}
    again.passed(5, {("a", 0): 90}, A)
    assert again.marks == {"a": 90}
    again.passed(6, {("a", 1): 95}, A, waiting={2})
    assert again.marks == {"a": 90}
    # One that was read holds nothing back where none of its records has a time.
    again.passed(7, {("a", 1): 96}, A, read={1, 2})
    again.passed(8, {("a", 1): 97}, A, read={1}, waiting={2})
    assert again.marks == EventTime(tmp_path).marks == {"a": 97}


@pytest.mark.parametrize("partitions", [3, 32])
def test_partitions_of_few_records_do_not_stop_it(partitions: int, tmp_path: Path) -> None:
    """A record a second in each: nearly every batch of half a second lacks some that get one while it runs."""
    rng, time = random.Random(partitions), EventTime(tmp_path)
    arrivals = [list(accumulate(rng.expovariate(1) for _ in range(200))) for _ in range(partitions)]
    read_s, held = 0.0, 0
    for batch_id in range(200):
        begin_s, read_s = read_s, read_s + 0.5
        newest: dict[tuple[str, int], int] = {}
        waiting = set()
        for partition, times in enumerate(arrivals):
            if inside := [at for at in times if begin_s < at <= read_s]:
                newest["a", partition] = int(inside[-1] * 1e6)
                assert int(inside[0] * 1e6) >= time.marks.get("a", 0)
            elif any(read_s < at <= read_s + 0.3 for at in times):
                waiting.add(partition)
        held += bool(waiting)
        time.passed(batch_id, newest, A, waiting=waiting)
    assert held > 40
    assert time.marks["a"] > (read_s - 15) * 1e6


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


def test_a_mark_outside_the_years_1_to_9999_is_ignored_with_a_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The version before stored such marks: event time then stood still, or made every later record late."""
    far = 9 * 10**18
    noted = {
        **{"v": 2, "batch": 7, "times": ["a", "b"]},
        **{"before": {"a": 3, "b": -far}, "after": {"a": far, "b": -far}},
        "newest": {"a": {"0": far, "1": 9}, "b": {"0": -far}},
    }
    (tmp_path / "event-time.json").write_text(json.dumps(noted))
    time = EventTime(tmp_path)
    assert (time.before(7, BOTH), time.before(8, BOTH), time.marks) == ({"a": 3}, {}, {})
    (line,) = caplog.messages
    assert f"event-time.json has the mark {far}, outside the years 1 to 9999: event time begins anew" in line
    time.passed(8, {("a", 1): 20, ("b", 1): 5}, BOTH, waiting={0})
    assert EventTime(tmp_path).marks == {"a": 20, "b": 5}
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("mark", [FIRST_US, LAST_US])
def test_the_first_and_the_last_mark_are_read(tmp_path: Path, caplog: pytest.LogCaptureFixture, mark: int) -> None:
    EventTime(tmp_path).passed(1, {("a", 0): mark}, A)
    assert EventTime(tmp_path).marks == {"a": mark}
    assert caplog.messages == []


@pytest.mark.parametrize("text", ['{"batch": 4, "before": 7}', '{"v": 3, "batch": 4}', "[]", "{"])
def test_a_file_that_cannot_be_read_is_left_with_a_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    (tmp_path / "event-time.json").write_text(text)
    assert EventTime(tmp_path).before(5, A) == {}
    assert "event time begins anew" in caplog.text
