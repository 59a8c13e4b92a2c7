"""Cells of large shapes: bounded lists of edges, with a spot that is where it says."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from asc.keys.dictionary import Dictionary
from asc.spatial.cover import FULL, NEAR, NEAR_BITS, STORED
from asc.spatial.index import ShapeIndex, Shapes
from asc.spatial.shape import CONTAINS, INTERSECTS, WITHIN_DISTANCE, Asked


def test_lists_are_bounded_and_spots_are_where_they_say() -> None:
    angle = np.linspace(0, 2 * np.pi, 2_000, endpoint=False)
    reach = np.where(np.arange(2_000) % 2, 9.0, 0.5)
    shape = shapely.Polygon(np.column_stack([reach * np.cos(angle), reach * np.sin(angle)]))
    dictionary = Dictionary.of([Asked(shape, CONTAINS).key])
    index = ShapeIndex.of(Shapes.of(dictionary.offsets, dictionary.data), np.zeros(1, dtype=np.int32))
    assert len(index.inside) > 20
    assert len(index.edges) <= STORED * 2_001 + 4 * 2_001
    assert sorted(set((index.entry_flags >> NEAR_BITS).tolist()) - {0}) == list(range(1, len(index.inside) + 1))
    inside = shapely.contains_xy(shape, index.spots[:, 0], index.spots[:, 1])
    assert inside.tolist() == index.inside.tolist()


@pytest.mark.parametrize("far", [None, 0.05, 5.0, 60.0])
@pytest.mark.parametrize("kind", [shapely.LineString, shapely.MultiPoint, shapely.Polygon])
def test_of_every_kind_few_edges_are_near_a_cell(kind: type[shapely.Geometry], far: float | None) -> None:
    angle = np.linspace(0, 2 * np.pi, 5_000, endpoint=False)
    reach = 20 + 3 * np.sin(40 * angle)
    shape = kind(np.column_stack([reach * np.cos(angle), reach * np.sin(angle)]))
    asked = Asked(shape, INTERSECTS) if far is None else Asked(shape, WITHIN_DISTANCE, far)
    dictionary = Dictionary.of([asked.key])
    index = ShapeIndex.of(Shapes.of(dictionary.offsets, dictionary.data), np.zeros(1, dtype=np.int32))
    assert len(index.edges) <= 2 * STORED * 5_001
    sizes = np.diff(index.near_first)
    # Partial cells all have a list, and a short one.
    partial = index.entry_flags & FULL == 0
    assert (index.entry_flags[partial] >> NEAR_BITS > 0).all()
    assert partial.any()
    assert sizes.max() <= NEAR
