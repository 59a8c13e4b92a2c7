"""Covers: full cells are met everywhere, and nothing is met outside of a cover."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from asc.keys.dictionary import Dictionary
from asc.spatial.cover import FULL, LARGE, is_near
from asc.spatial.index import ShapeIndex, Shapes
from asc.spatial.location import crosses
from asc.spatial.shape import CONTAINS, INTERSECTS, WITHIN_DISTANCE, WITHIN_SPHERE, Asked


@pytest.mark.parametrize("relation", [CONTAINS, INTERSECTS, WITHIN_DISTANCE, WITHIN_SPHERE])
@pytest.mark.parametrize("vertices", [5, LARGE + 10])
def test_a_full_cell_is_met_and_what_is_met_is_covered(relation: int, vertices: int) -> None:
    random = np.random.default_rng(vertices)
    angle = np.linspace(0, 2 * np.pi, vertices, endpoint=False)
    reach = random.uniform(2, 9, vertices)
    shape = shapely.Polygon(np.column_stack([170 + reach * np.cos(angle), 20 + reach * np.sin(angle)]))
    asked = Asked(
        shapely.Point(170, 20) if relation == WITHIN_SPHERE else shape,
        relation,
        3e5 if relation == WITHIN_SPHERE else 0.5,
    )
    dictionary = Dictionary.of([asked.key])
    index = ShapeIndex.of(Shapes.of(dictionary.offsets, dictionary.data), np.zeros(1, dtype=np.int32))
    places = np.concatenate(
        [random.uniform((150, 0), (180, 40), (800, 2)), random.uniform((-180, 0), (-170, 40), (200, 2))]
    )
    x, y = places.T.copy()
    for key, met in zip(index.cell_keys(x, y).tolist(), asked.decide(x, y).tolist(), strict=True):
        around = np.flatnonzero((index.starts <= key) & (key < index.starts + (1 << 2 * index.shifts.astype(np.int64))))
        flags = [int(one) for cell in around for one in index.entry_flags[index.first[cell] : index.first[cell + 1]]]
        assert flags or not met
        assert met or not any(one & FULL for one in flags)


def test_edges_near_a_rectangle_and_ways_that_cross() -> None:
    assert is_near(0.0, 0.0, 2.0, 2.0, 0.5, 0.5, 1.0, 1.0)
    assert not is_near(0.0, 0.0, 2.0, 2.0, 1.5, 0.0, 2.0, 0.4)
    assert crosses(0.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, 0.0) == 1
    assert crosses(0.0, -1.0, 0.0, 1.0, -2.0, 0.0, -1.0, 0.0) == 0
    assert crosses(0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 1.0, 0.0) == 2
