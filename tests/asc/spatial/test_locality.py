"""Neighbours sort near each other."""

from __future__ import annotations

from asc.spatial.cells import SIDE, z_order
from asc.spatial.locality import locality


def test_it_is_the_place_along_the_z_order() -> None:
    assert locality(0.0, 0.0, 360.0) == z_order(SIDE // 2, SIDE // 2)
    assert locality(-180.0, -180.0, 360.0) == 0


def test_beyond_the_square_it_repeats() -> None:
    assert locality(370.0, -350.0, 360.0) == locality(10.0, 10.0, 360.0)
    assert 0 <= locality(1e100, -1e100, 360.0) < SIDE * SIDE
