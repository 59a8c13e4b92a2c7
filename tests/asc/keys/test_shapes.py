"""Sets of shapes: what each position meets, by labels, through changes and arrays."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import shapely

from asc.keys.dictionary import Dictionary
from asc.keys.positions import DEGREES
from asc.keys.shapes import ShapeSet, decided, found_shapes
from asc.spatial.index import Shapes
from asc.spatial.shape import CONTAINS, INTERSECTS, Asked

KEYS = [Asked(shapely.box(0, 0, n, n), relation).key for n in (1, 2, 3) for relation in (CONTAINS, INTERSECTS)]
PLACES = np.array([[0.5, 0.5], [1.0, 1.0], [2.5, 2.5], [9.0, 9.0], [0.0, 0.0]])


def met(own: ShapeSet, dictionary: Dictionary) -> list[set[bytes]]:
    values = pa.StructArray.from_arrays([pa.array(part) for part in PLACES.T.copy()], fields=list(DEGREES))
    ends, labels = own.find(values)
    of = {label: key for key, label in dictionary.labels_by_constant().items()}
    return [{of[label] for label in labels[a:b].tolist()} for a, b in pairwise(ends.tolist())]


def expected(keys: list[bytes]) -> list[set[bytes]]:
    return [{key for key in keys if Asked.of(key).accepts(*place)} for place in PLACES.tolist()]


def test_each_position_has_the_labels_of_what_it_meets() -> None:
    dictionary = Dictionary.of(KEYS[:4])
    own = ShapeSet.of(dictionary)
    assert met(own, dictionary) == expected(KEYS[:4])
    again = ShapeSet.of_arrays(own.arrays)
    assert met(again, dictionary) == expected(KEYS[:4])
    wider = dictionary.with_constants(KEYS)
    assert wider is not None
    grown = own.with_constants(KEYS, wider)
    assert len(grown) == 6
    assert met(grown, wider) == expected(KEYS)
    assert grown.with_constants(KEYS, wider) is grown
    spread = Dictionary.of(KEYS)
    assert met(grown.relabelled(spread), spread) == expected(KEYS)


def test_pairs_that_are_left_open_are_decided_by_the_oracle() -> None:
    line = Asked(shapely.LineString([(0, 0), (3, 3)]), INTERSECTS)
    dictionary = Dictionary.of([line.key])
    shapes = Shapes.of(dictionary.offsets, dictionary.data)
    x, y = PLACES.T.copy()
    rows, numbers = found_shapes(shapes, ShapeSet.of(dictionary).index, x, y)
    assert sorted(rows.tolist()) == [0, 1, 2, 4]
    assert numbers.tolist() == [0] * 4
    assert decided(shapes, np.zeros(5, dtype=np.int32), x, y).tolist() == [True, True, True, False, True]
