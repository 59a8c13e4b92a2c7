"""Positions: their keys, and which are none."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from asc.keys.dictionary import Dictionary
from asc.keys.positions import BOX_DEGREES, BOX_PLANE, DEGREES, PLANE, Positions, coordinates, numbers_of
from asc.keys.spaces import space_of


def positions(kind: pa.DataType, *rows: tuple[float | None, ...]) -> pa.Array:
    columns = [pa.array([row[place] for row in rows], pa.float64()) for place in range(kind.num_fields)]
    return pa.StructArray.from_arrays(columns, fields=list(kind))


def known(kind: pa.DataType, *rows: tuple[float | None, ...]) -> list[bool]:
    space, values = space_of(kind), positions(kind, *rows)
    assert isinstance(space, Positions)
    readable = space.readable(values)
    assert readable is not None
    found = [value.is_valid for value in readable]
    assert found == [space.key_of(value) is not None for value in values]
    return found


def test_what_is_no_place_is_null() -> None:
    rows = (
        (8.0, 47.0),
        (None, 1.0),
        (1.0, None),
        (math.nan, 1.0),
        (1.0, math.inf),
        (-180.0, 90.0),
        (180.1, 0.0),
        (0.0, 91.0),
    )
    assert known(DEGREES, *rows) == [True, False, False, False, False, True, False, False]
    assert known(PLANE, *rows) == [True, False, False, False, False, True, True, True]


def test_a_box_goes_from_its_least_corner() -> None:
    rows = (
        (0.0, 0.0, 1.0, 1.0),
        (0.0, 0.0, 0.0, 0.0),
        (1.0, 0.0, 0.0, 1.0),
        (0.0, 1.0, 1.0, 0.0),
        (0.0, 0.0, 200.0, 1.0),
    )
    assert known(BOX_DEGREES, *rows) == [True, True, False, False, False]
    assert known(BOX_PLANE, *rows) == [True, True, False, False, True]


def test_keys_hold_the_numbers_and_are_told_as_sql() -> None:
    space = Positions.of(DEGREES)
    assert space is not None
    key = space.key((8.5, -0.0))
    assert numbers_of(key) == (8.5, -0.0)
    assert space.text(key) == "ST_Point(8.5, -0.0)"
    assert space.text(space.key((0.0, 1.0, 2.0, 3.0))) == "ST_PolygonFromEnvelope(0.0, 1.0, 2.0, 3.0)"
    assert space.readable(pa.array([1.0])) is None
    with pytest.raises(TypeError, match="no order"):
        space.write(positions(DEGREES, (1.0, 2.0)), Dictionary.of(()), np.empty(1, dtype=np.int64))


def test_parts_of_a_slice_are_those_of_its_rows() -> None:
    values = positions(PLANE, (1.0, 2.0), (3.0, 4.0), (5.0, 6.0)).slice(1, 2)
    x, y = coordinates(values)
    assert (x.tolist(), y.tolist()) == ([3.0, 5.0], [4.0, 6.0])
    assert not x.flags.writeable
