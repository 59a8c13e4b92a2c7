"""The search in an index of shapes, where more is listed around a position than is looked at together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import shapely

from asc.compiled import compiled
from asc.keys.dictionary import Dictionary
from asc.keys.shapes import found_shapes
from asc.spatial.index import ShapeIndex, Shapes
from asc.spatial.search import CERTAIN, ENTRIES, ENTRY, IndexArrays, list_entries
from asc.spatial.shape import CONTAINS, PLANAR, WGS84, Asked


@compiled
def listed(arguments: IndexArrays, keys: npt.NDArray[Any], entries: npt.NDArray[Any]) -> int:
    """How many entries are listed for positions that come in the order of their cells."""
    _, _, count = list_entries(arguments, keys, 0, -1, entries)
    return count


def test_most_entries_around_a_position_are_decided_without_the_shape() -> None:
    random = np.random.default_rng(0)
    asked = [
        Asked(shapely.Point(*place).buffer(0.01, quad_segs=4), CONTAINS) for place in random.random((500, 2)).tolist()
    ]
    dictionary = Dictionary.of([one.key for one in asked])
    shapes = Shapes.of(dictionary.offsets, dictionary.data)
    index = ShapeIndex.of(shapes, np.arange(len(dictionary), dtype=np.int32))
    x, y = random.random((2, 2_000))
    keys = index.cell_keys(x, y)
    order = np.argsort(keys)
    entries = np.empty(100_000, dtype=np.int64)
    found = entries[: listed(index.arguments, keys[order], entries)]
    certain_of = {
        (int(order[one >> 32]), int(index.places[one & ENTRY])): bool(one & CERTAIN) for one in found.tolist()
    }
    rows, numbers = found_shapes(shapes, index, x, y)
    met = set(zip(rows.tolist(), numbers.tolist(), strict=True))
    assert met <= certain_of.keys()
    assert {pair for pair, is_certain in certain_of.items() if is_certain} <= met
    around = sum(len(index.shapes_around(key)) for key in keys.tolist())
    assert sum(not is_certain for is_certain in certain_of.values()) < around / 3


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
