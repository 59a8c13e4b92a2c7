"""The windows that late records have changed, and what rounds of revisions leave of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube.revisions import Position
from asc.operators.cube.sliding import Sliding
from broker.operators.cube.window_state import KeptChange, WindowState
from tests.broker.operators.cube.window_rig import output

OWN = output(10, 1)
STATE = WindowState("asc.late", OWN, written=30)


def changed(state: WindowState, *panes: int, first: int = 1) -> WindowState:
    return state.changed(np.array(panes, dtype=np.int64), 100, count(first))


def changes_of(state: WindowState) -> list[tuple[int, int, int]]:
    return [(own.number, own.first, own.end) for own in state.changes]


@given(
    shape=st.sampled_from([(1, 1), (4, 4), (4, 1), (5, 2)]),
    panes=st.sets(st.integers(-20, 20), min_size=1, max_size=4),
    bounds=st.tuples(st.integers(-10, 20), st.integers(-10, 30)),
    window=st.integers(-20, 30),
)
def test_the_windows_of_a_change_are_those_that_hold_a_pane_of_it(
    shape: tuple[int, int], panes: set[int], bounds: tuple[int, int], window: int
) -> None:
    sliding, (first, end) = Sliding(*shape), bounds
    own = KeptChange.of(1, first, end, np.array(sorted(panes), dtype=np.int64), 0)
    held = {number for pane in panes for number in sliding.holding(pane) if first <= number < end}
    assert own.following(sliding, window) == min((each for each in held if each >= window), default=None)


def test_a_change_is_of_written_windows_from_the_first_one_on() -> None:
    assert changes_of(changed(STATE, 3, 5)) == [(1, 4, 16)]
    assert changes_of(changed(STATE, 28)) == [(1, 29, 31)]
    limited = replace(STATE, first_window=6)
    assert changes_of(changed(limited, 3, 5)) == [(1, 6, 16)]
    assert (limited.late_panes(), STATE.late_panes()) == ((-4, 30), (None, 30))
    assert replace(STATE, written=None).late_panes() is None
    # None of the windows from the first one on is written yet.
    assert replace(STATE, first_window=31).late_panes() is None


def test_a_change_during_a_round_is_in_parts_which_the_round_ends_as_a_whole() -> None:
    state = replace(changed(STATE, 3), position=Position(8, until=30))
    assert changes_of(changed(state, 3, first=2)) == [(1, 4, 14), (2, 4, 8), (3, 8, 14)]
    # What came while a window is written in part is not in its rows.
    within = replace(state, position=Position(8, 0, 5, batch=1, until=30))
    after = changed(within, 3, first=2)
    assert changes_of(after) == [(1, 4, 14), (2, 4, 8), (3, 8, 9), (4, 9, 14)]
    assert after.newest(8) == 3
    # A part that holds no window is none.
    assert changes_of(changed(within, 20, first=2)) == [(1, 4, 14), (2, 21, 31)]


def test_a_round_leaves_what_is_before_it_and_what_came_since() -> None:
    state = replace(changed(STATE, 7), position=Position(8, 0, 5, batch=1, until=30), is_due=False)
    state = changed(state, 3, first=2)
    assert changes_of(state) == [(1, 8, 18), (2, 4, 8), (3, 8, 9), (4, 9, 14)]
    # Still in the same window.
    assert changes_of(state.revised(Position(8, 0, 9, batch=1, until=30), {})) == changes_of(state)
    going_on = state.revised(Position(11, until=30), {(8, 0): 1, (9, 0): 2})
    assert changes_of(going_on) == [(1, 11, 18), (2, 4, 8), (3, 8, 9), (4, 11, 14)]
    assert (going_on.revisions, going_on.is_due, going_on.position.window) == (1, False, 11)
    assert changes_of(state.revised(Position(), {})) == [(2, 4, 8), (3, 8, 9)]


def test_a_round_ends_with_the_newest_window_of_its_beginning() -> None:
    state = replace(changed(STATE, 25), position=Position(28, until=30))
    later = changed(replace(state, written=33), 25, first=2)
    assert changes_of(later) == [(1, 26, 31), (2, 26, 28), (3, 28, 34)]
    assert changes_of(later.revised(Position(), {})) == [(1, 26, 31), (2, 26, 28), (3, 31, 34)]


def test_what_was_changed_of_windows_has_a_pane_of_theirs() -> None:
    state = changed(changed(STATE, 2, 25), 14, first=2)
    assert [own.number for own in state.changes_of(3, 4)] == [1]
    assert [own.number for own in state.changes_of(14, 16)] == [2]
    assert [own.number for own in state.changes_of(24, 26)] == [1, 2]
