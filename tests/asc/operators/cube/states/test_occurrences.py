"""Occurrences: the different pairs of a cell and a value are those that Python counts."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from asc.frozen import frozen
from asc.operators.cube.states.frequent import Frequent
from asc.operators.cube.states.occurrences import Occurrences


@pytest.mark.parametrize("seed", range(10))
def test_pairs_are_counted_in_order_without_null(seed: int) -> None:
    draw = random.Random(seed)
    texts = [draw.choice([None, "a", "b", "c", "d"]) for _ in range(draw.choice([0, 1, 200]))]
    cells = [draw.randrange(5) for _ in texts]
    rows = sorted(draw.sample(range(len(texts)), len(texts) // 2))
    values = Frequent(pa.string()).values(pa.array(texts, pa.string()))
    own = frozen(np.array([cells[row] for row in rows], dtype=np.int32))
    met = Occurrences.of_rows(values, frozen(np.array(rows, dtype=np.int64)), own, 5)
    assert values.dictionary is not None
    items = [values.dictionary[int(code)].as_py() for code in met.codes]
    found = list(zip(met.cells.tolist(), items, met.counts.tolist(), strict=True))
    counted = Counter((cells[row], texts[row]) for row in rows if texts[row] is not None)
    assert found == [(*pair, count) for pair, count in sorted(counted.items())]
    for cell in range(5):
        assert set(met.cells[met.starts[cell] : met.starts[cell + 1]].tolist()) <= {cell}
    assert met.starts[0] == 0
    assert met.starts[5] == len(found)


def test_weights_of_pairs_that_repeat_are_added() -> None:
    cells, codes = (frozen(np.array(own, dtype=np.int32)) for own in ([1, 0, 1, 1], [2, 0, 2, 1]))
    weights = frozen(np.array([5, 7, 11, 13]))
    met, (sums,) = Occurrences.summed(cells, codes, 3, 2, weights)
    assert [met.cells.tolist(), met.codes.tolist(), met.counts.tolist()] == [[0, 1, 1], [0, 1, 2], [1, 1, 2]]
    assert sums.tolist() == [7, 13, 16]
