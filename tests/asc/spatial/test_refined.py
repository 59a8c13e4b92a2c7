"""Cells of large shapes: bounded lists of edges, with a spot that is where it says."""

from __future__ import annotations

import numpy as np
import shapely

from asc.keys.dictionary import Dictionary
from asc.spatial.cover import NEAR_BITS, STORED
from asc.spatial.index import ShapeIndex, Shapes
from asc.spatial.shape import CONTAINS, Asked


def test_lists_are_bounded_and_spots_are_where_they_say() -> None:
    angle = np.linspace(0, 2 * np.pi, 2_000, endpoint=False)
    reach = np.where(np.arange(2_000) % 2, 9.0, 0.5)
    shape = shapely.Polygon(np.column_stack([reach * np.cos(angle), reach * np.sin(angle)]))
    dictionary = Dictionary.of([Asked(shape, CONTAINS).key])
    index = ShapeIndex.of(Shapes.of(dictionary.offsets, dictionary.data), np.zeros(1, dtype=np.int32))
    assert len(index.inside) > 20
    assert len(index.edges) <= STORED * 2_001 + 4 * 2_001
    assert sorted(set((index.told >> NEAR_BITS).tolist()) - {0}) == list(range(1, len(index.inside) + 1))
    inside = shapely.contains_xy(shape, index.spots[:, 0], index.spots[:, 1])
    assert inside.tolist() == index.inside.tolist()
