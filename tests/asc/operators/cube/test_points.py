"""Points of charts: they cover the interval, and views are in line with them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.points import Points

LATTICE = Lattice(Dimensions((("a",),)), 900)


@given(
    first=st.integers(-100_000, 100_000),
    length=st.integers(1, 300_000),
    most=st.integers(1, 300),
    unit=st.sampled_from([1, 2, 4, 12, 96, 96 * 7, 5]),
)
def test_points_cover_an_interval_and_divide_no_stored_pane(first: int, length: int, most: int, unit: int) -> None:
    points, end = Points.of(first, first + length, most, LATTICE, unit), first + length
    assert 1 <= points.count <= most
    assert points.first <= first < points.first + points.panes
    assert points.first + points.panes * (points.count - 1) < end <= points.first + points.panes * points.count
    # Panes of the longest view that divides a point begin with it.
    for panes in (unit, LATTICE.longest(points.panes)):
        assert points.panes % panes == points.first % panes == 0
    # Half of the points would not do, unless stored panes are that long.
    assert points.count * 5 >= min(most, length) or points.panes <= max(unit * 96, 1)
