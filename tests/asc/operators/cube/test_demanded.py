"""The views that a question demands."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.demanded import demanded_views
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View

LATTICE = Lattice(Dimensions((("origin", "dest"), ("carrier",))), 900)


@given(first=st.integers(-500, 500), panes=st.integers(1, 3_000), step=st.none() | st.sampled_from([1, 2, 4, 96, 672]))
def test_each_pane_is_answered_once_by_a_view_that_fits_the_rows(first: int, panes: int, step: int | None) -> None:
    if step is not None:
        first, panes = first * step, panes * step
    found = demanded_views(LATTICE, (1, 0), step, [(first, first + panes)])
    assert sum(read for _, read in found) == panes
    assert len(found) <= 3
    for view, read in found:
        assert LATTICE.has(view)
        assert read % view.panes == 0
        assert step is None or step % view.panes == 0
    # Most of a long interval is answered by days, or by whole rows.
    longest = LATTICE.longest(step)
    assert panes < 2 * longest or found[0][0].panes == longest


@given(
    segments=st.lists(st.tuples(st.integers(0, 300), st.integers(1, 300)), min_size=1, max_size=40),
    step=st.none() | st.sampled_from([1, 4, 96]),
)
def test_segments_demand_what_each_of_them_demands(segments: list[tuple[int, int]], step: int | None) -> None:
    bounds = np.cumsum([own for pair in segments for own in pair]).tolist()
    several = list(zip(bounds[::2], bounds[1::2], strict=True))
    expected: Counter[View] = Counter()
    for own in several:
        expected.update(dict(demanded_views(LATTICE, (1, 0), step, [own])))
    found = demanded_views(LATTICE, (1, 0), step, several)
    assert dict(found) == expected
    assert [view.panes for view, _ in found] == sorted({view.panes for view in expected}, reverse=True)


def test_no_segment_demands_nothing() -> None:
    assert demanded_views(LATTICE, (1, 0), None, []) == ()
