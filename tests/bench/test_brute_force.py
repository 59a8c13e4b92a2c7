"""The rivals of the engine against counting with numpy."""

from __future__ import annotations

import numpy as np
import pytest

from bench.brute_force import dense_bounds, early_exit_scan

ATTRIBUTES, DOMAIN = 4, 10


@pytest.mark.parametrize(("rows", "together"), [(0, 3), (2, 3), (3, 3), (7, 3), (7, 1)])
@pytest.mark.parametrize("queries", [1, 9])
def test_both_count_what_numpy_counts(rows: int, together: int, queries: int) -> None:
    rng = np.random.default_rng(rows)
    values = rng.integers(0, DOMAIN, (ATTRIBUTES, rows), dtype=np.int32)
    bounds = np.sort(rng.integers(0, DOMAIN, (2, ATTRIBUTES, queries), dtype=np.int32), axis=0)
    # The first query has no predicate at all: it accepts every row.
    bounds[0, :, 0], bounds[1, :, 0] = 0, DOMAIN - 1
    inside = (bounds[0][:, None] <= values[:, :, None]) & (values[:, :, None] <= bounds[1][:, None])
    expected = int(inside.all(axis=0).sum())
    assert expected >= rows
    alive = np.empty((together, queries), dtype=np.uint8)
    assert dense_bounds(values, bounds[0], bounds[1], alive) == expected
    first = np.concatenate([[0, 0], ATTRIBUTES * np.arange(1, queries)])
    attribute = np.tile(np.arange(ATTRIBUTES), queries - 1)
    low, high = (bounds[side][:, 1:].T.ravel().astype(np.int64) for side in (0, 1))
    assert early_exit_scan(values, first, attribute, low, high) == expected
