"""The search in an index of shapes, where more is listed around a position than is looked at together."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from asc.keys.dictionary import Dictionary
from asc.keys.shapes import found_shapes
from asc.spatial.index import ShapeIndex, Shapes
from asc.spatial.search import ENTRIES
from asc.spatial.shape import CONTAINS, PLANAR, WGS84, Asked


@pytest.mark.parametrize("crs", [PLANAR, WGS84])
@pytest.mark.parametrize("many", [ENTRIES - 1, 3 * ENTRIES])
def test_positions_meet_as_many_shapes_as_lie_there(crs: int, many: int) -> None:
    """Crowds, and one by itself between them and after; of positions that meet none, too."""
    asked = [Asked(shapely.box(0, 0, 1 + number * 1e-9, 1), CONTAINS, crs=crs) for number in range(many)]
    asked += [Asked(shapely.box(0, 2, 1, 3), CONTAINS, crs=crs), Asked(shapely.box(9, 9, 10, 10), CONTAINS, crs=crs)]
    dictionary = Dictionary.of([one.key for one in asked])
    shapes = Shapes.of(dictionary.offsets, dictionary.data)
    index = ShapeIndex.of(shapes, np.arange(len(dictionary), dtype=np.int32))
    x = np.array([0.5, 0.5, 0.6, 5.0, 9.5, 0.5, 0.4, 1 + 1e-9, np.nan])
    y = np.array([0.5, 2.5, 0.6, 5.0, 9.5, 0.5, 0.4, 0.5, 0.5])
    rows, numbers = found_shapes(shapes, index, x, y)
    expected = np.array([one.decide(x, y) for one in asked]).T
    assert np.bincount(rows, minlength=len(x)).tolist() == expected.sum(axis=1).tolist()
    keys = [one.key for one in asked]
    found = {(row, dictionary.constant(number)) for row, number in zip(rows.tolist(), numbers.tolist(), strict=True)}
    assert found == {(row, keys[place]) for row, place in np.argwhere(expected).tolist()}
