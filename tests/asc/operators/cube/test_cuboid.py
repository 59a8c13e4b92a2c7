"""Cuboids of hierarchies."""

from __future__ import annotations

import pytest

from asc.errors import CubeError
from asc.operators.cube.cuboid import Dimensions

FLIGHTS = Dimensions((("origin", "dest"), ("carrier",)))


def test_there_is_a_cuboid_for_each_level_of_each_dimension() -> None:
    found = list(FLIGHTS.cuboids())
    assert found == [(2, 1), (2, 0), (1, 1), (1, 0), (0, 1), (0, 0)]
    assert len(found) == FLIGHTS.count
    assert found[0] == FLIGHTS.base
    assert list(Dimensions(()).cuboids()) == [()]


def test_a_level_implies_its_coarser_ones() -> None:
    assert FLIGHTS.cuboid_of(["dest"]) == FLIGHTS.cuboid_of(["dest", "origin"]) == (2, 0)
    assert FLIGHTS.columns((2, 0)) == (0, 1)
    assert FLIGHTS.cuboid_of([]) == (0, 0)


def test_names_are_those_of_expressions_whatever_their_case_and_blanks() -> None:
    assert FLIGHTS.cuboid_of([" Carrier "]) == (0, 1)
    assert FLIGHTS.order_of(["carrier", "dest"]) == (1, 0)
    assert FLIGHTS.levels_of((2, 1), (1, 0)) == ["carrier", "origin", "dest"]


@pytest.mark.parametrize("name", ["tailnum", "", 7, None])
def test_what_is_no_dimension_is_refused(name: object) -> None:
    with pytest.raises(CubeError, match="is no dimension: name some of origin, dest, carrier"):
        FLIGHTS.cuboid_of([name])  # type: ignore[list-item]
