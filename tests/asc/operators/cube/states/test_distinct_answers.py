"""Estimates of numbers of different values: bounds, and the estimate of the library."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.states.distinct import Distinct
from asc.operators.cube.states.distinct_answers import CONFIDENCE, TYPE, estimates

SIZE = 3_000


def test_bounds_at_two_sigma_hold_in_95_of_100_sketches(full_size: bool) -> None:
    """Each sketch is of other values. Two panes overlap, and are merged."""
    seeds, state = 1_000 if full_size else 200, Distinct()
    values = np.arange(seeds * SIZE).reshape(seeds, SIZE)
    column = pa.array(np.concatenate((values[:, :2_000], values[:, 1_000:]), axis=1).reshape(-1))
    cells = frozen(np.repeat(np.arange(2 * seeds, dtype=np.int32), 2_000))
    panes = state.fold(state.values(column), frozen(np.arange(len(column))), cells, 2 * seeds)
    merged = state.merge(panes, frozen(np.repeat(np.arange(seeds, dtype=np.int32), 2)), seeds)
    answer = estimates(state, merged)
    low, high, estimate = (answer.field(name).to_numpy() for name in ("low", "high", "estimate"))
    assert ((low <= SIZE) & (high >= SIZE)).mean() >= 0.95
    assert (abs(estimate - SIZE) > 0).any()
    assert (high - low).mean() < 0.07 * SIZE


def test_few_values_are_counted_exactly() -> None:
    state = Distinct()
    sizes = [1, 5, 7, 8, 60, 384]
    column = pa.array([f"{size}:{place}" for size in sizes for place in range(size)] * 2)
    cells = frozen(np.tile(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), 2))
    states = state.fold(state.values(column), frozen(np.arange(len(column))), cells, len(sizes))
    answer = estimates(state, states)
    assert answer.type == TYPE
    for row, size in zip(answer.to_pylist(), sizes, strict=True):
        assert row == {"estimate": size, "low": size, "high": size, "confidence": CONFIDENCE}
