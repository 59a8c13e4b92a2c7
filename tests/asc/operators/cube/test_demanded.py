"""The views that a question demands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.demanded import demanded_views
from asc.operators.cube.lattice import Lattice

LATTICE = Lattice(Dimensions((("origin", "dest"), ("carrier",))), 900)


@given(first=st.integers(-500, 500), panes=st.integers(1, 3_000), step=st.none() | st.sampled_from([1, 2, 4, 96, 672]))
def test_each_pane_is_answered_once_by_a_view_that_fits_the_rows(first: int, panes: int, step: int | None) -> None:
    if step is not None:
        first, panes = first * step, panes * step
    found = demanded_views(LATTICE, (1, 0), step, first, first + panes)
    assert sum(read for _, read in found) == panes
    assert len(found) <= 3
    for view, read in found:
        assert LATTICE.has(view)
        assert read % view.panes == 0
        assert step is None or step % view.panes == 0
    # Most of a long interval is answered by days, or by whole rows.
    longest = LATTICE.longest(step)
    assert panes < 2 * longest or found[0][0].panes == longest
