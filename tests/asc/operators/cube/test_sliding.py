"""Sliding windows over panes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube.sliding import Sliding

shapes = st.tuples(st.integers(1, 6), st.integers(1, 6)).filter(lambda own: own[1] <= own[0])


class Counted:
    """Panes that count how often they are searched."""

    def __init__(self, panes: Sequence[int]) -> None:
        self._panes = panes
        self.searches = 0

    def following(self, pane: int | None) -> int | None:
        self.searches += 1
        place = 0 if pane is None else bisect_left(self._panes, pane)
        return self._panes[place] if place < len(self._panes) else None


@given(shape=shapes, pane=st.integers(-20, 20))
def test_a_pane_is_in_the_windows_that_hold_it(shape: tuple[int, int], pane: int) -> None:
    own = Sliding(*shape)
    held = [number for number in range(-60, 60) if own.panes(number)[0] <= pane < own.panes(number)[1]]
    assert list(own.holding(pane)) == held


@given(shape=shapes, open_from=st.integers(-30, 30))
def test_the_last_final_window_has_no_open_pane(shape: tuple[int, int], open_from: int) -> None:
    own = Sliding(*shape)
    assert own.panes(own.last_final(open_from))[1] <= open_from < own.panes(own.last_final(open_from) + 1)[1]


@given(
    shape=shapes,
    panes=st.sets(st.integers(-15, 15), max_size=6),
    after=st.none() | st.integers(-10, 10),
    to=st.integers(-10, 30),
)
def test_windows_with_a_pane_are_due_and_the_ones_after_them(
    shape: tuple[int, int], panes: set[int], after: int | None, to: int
) -> None:
    own = Sliding(*shape)

    def has_pane(number: int) -> bool:
        return not panes.isdisjoint(range(*own.panes(number)))

    first = -40 if after is None else after + 1
    expected = [number for number in range(first, to + 1) if has_pane(number) or has_pane(number - 1)]
    assert list(own.due(Counted(sorted(panes)).following, after, to)) == expected


def test_a_jump_of_a_year_looks_at_no_empty_window() -> None:
    year = 365 * 24 * 3_600
    panes = Counted([5, year])
    found = list(Sliding(window=60, slide=1).due(panes.following, 5, 2 * year))
    assert found == [*range(6, 67), *range(year + 1, year + 62)]
    assert panes.searches < 2 * len(found)
