"""Batches in event time."""

from __future__ import annotations

from broker.operators.cube.batch_time import BatchTime, first_open


def test_the_mark_is_the_least_of_the_newest_times_and_never_goes_back() -> None:
    assert BatchTime.of(1, 10, None, {0: 130, 1: 120}).mark_us == 120
    assert BatchTime.of(1, 10, 125, {0: 130, 1: 120}).mark_us == 125
    assert BatchTime.of(1, 10, 125, {}).mark_us == 125
    assert BatchTime.of(1, 10, None, {}).mark_us is None


def test_a_gap_before_a_batch_ends_with_its_newest_time_and_the_lateness() -> None:
    assert BatchTime.of(1, 10, 100, {0: 130, 1: 120}).end_of_gap_us == 140
    # Older records than the mark do not end it before the mark.
    assert BatchTime.of(1, 10, 100, {0: 50}).end_of_gap_us == 110
    assert BatchTime.of(1, 10, 100, {}).end_of_gap_us is None


def test_a_pane_is_final_when_the_watermark_is_its_end() -> None:
    assert [first_open(mark_us, 10, 60) for mark_us in (-51, -50, 69, 70, 129, 130)] == [-2, -1, 0, 1, 1, 2]
    batch_time = BatchTime.of(1, 10, 70, {0: 130})
    assert (batch_time.open_before(60), batch_time.open_after(60)) == (1, 2)
