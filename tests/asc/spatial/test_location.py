"""Whether a position meets a shape, by the kernels: YES and NO where shapely says so, UNSURE on boundaries alone."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from asc.keys.dictionary import Dictionary
from asc.spatial.index import Shapes
from asc.spatial.location import NO, UNSURE, YES, holds, side_of
from asc.spatial.shape import CONTAINS, INTERSECTS, WITHIN_DISTANCE, WITHIN_SPHERE, Asked


def test_sides_are_told_where_rounding_cannot_turn_them() -> None:
    assert side_of(0.0, 0.0, 1.0, 0.0, 0.5, 1.0) == 1
    assert side_of(0.0, 0.0, 1.0, 0.0, 0.5, -1.0) == -1
    assert side_of(0.0, 0.0, 1.0, 1.0, 0.5, float(np.nextafter(0.5, 1))) in (1, 2)
    assert side_of(0.0, 0.0, 3e-160, 3e-160, 1e-160, 1e-160) == 2


@pytest.mark.parametrize("relation", [CONTAINS, INTERSECTS, WITHIN_DISTANCE])
def test_what_is_told_is_what_shapely_says(relation: int) -> None:
    random = np.random.default_rng(relation)
    shapes = [
        shapely.Point(*random.uniform(-3, 3, 2)).buffer(2, quad_segs=int(random.integers(1, 9))) for _ in range(8)
    ]
    shapes += [
        shapely.box(-1, -1, 1, 1),
        shapely.Point(0.5, 0.5),
        shapely.LineString([(0, 0), (2, 2)]),
        shapely.Point(),
    ]
    told = set()
    for shape in shapes:
        asked = Asked(shape, relation, 0.5)
        own = Shapes.of(*(getattr(Dictionary.of([asked.key]), name) for name in ("offsets", "data")))
        places = random.uniform(-4, 4, (120, 2))
        places[:4] = [(1, 0), (-1, -1), (0.5, 0.5), (1, 1)]
        for x, y in places.tolist():
            found = holds(own.words, own.reals, 0, x, y)
            told.add(found)
            if found != UNSURE:
                assert found == (YES if asked.accepts(x, y) else NO)
    assert {YES, NO} <= told


def test_the_sphere_is_left_open_at_the_limit_and_at_the_antipode() -> None:
    asked = Asked(shapely.Point(0, 0), WITHIN_SPHERE, 1_000_000.0)
    own = Shapes.of(*(getattr(Dictionary.of([asked.key]), name) for name in ("offsets", "data")))
    assert [holds(own.words, own.reals, 0, x, 0.0) for x in (1.0, 20.0, 180.0)] == [YES, NO, UNSURE]
