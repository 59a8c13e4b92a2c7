"""Schedules of windows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asc.operators.dbscan.schedule import Schedule, ends

schedules = st.integers(1, 40).flatmap(lambda window: st.builds(Schedule, st.just(window), st.integers(1, window)))


def test_ends_of_arbitrary_windows_and_slides() -> None:
    assert ends([Schedule(10, 4), Schedule(9, 5), Schedule(6, 2)], 0, 20) == [6, 8, 9, 10, 12, 14, 16, 18, 19, 20]


def test_ends_of_one_window_and_arbitrary_slides() -> None:
    # Section 6.1 of the paper: windows of 10 that slide by 2, 3 and 6.
    own = [Schedule(10, slide) for slide in (2, 3, 6)]
    assert ends(own, 0, 22) == [10, 12, 13, 14, 16, 18, 19, 20, 22]
    assert ends(own, 13, 16) == [14, 16]


@given(schedule=schedules, place=st.integers(-1_000, 1_000))
def test_the_windows_that_hold_a_place_are_those_from_the_first(schedule: Schedule, place: int) -> None:
    holding = [n for n in range(-2_100, 2_100) if schedule.bounds(n)[0] <= place < schedule.bounds(n)[1]]
    assert holding[0] == schedule.first_with(place)
    assert holding == list(range(holding[0], place // schedule.slide + 1))


@given(schedule=schedules, mark=st.integers(-1_000, 1_000))
def test_a_window_is_final_from_its_exclusive_end(schedule: Schedule, mark: int) -> None:
    last = schedule.last_final(mark)
    assert schedule.bounds(last)[1] <= mark < schedule.bounds(last + 1)[1]


@given(schedule=schedules, mark=st.integers(-1_000, 1_000), place=st.integers(-1_000, 1_000))
def test_a_place_is_late_where_all_its_windows_are_final(schedule: Schedule, mark: int, place: int) -> None:
    last = place // schedule.slide
    assert (place < schedule.late_before(mark)) == (schedule.bounds(last)[1] <= mark)
