"""Rows by query."""

from __future__ import annotations

import numpy as np
import pytest

from asc.operators.rows_by_query import rows_by_query


@pytest.mark.parametrize("count", [1, 3, 1 << 15, 70_000])
def test_the_rows_of_each_query_come_in_their_order(count: int) -> None:
    random = np.random.default_rng(count)
    places = random.integers(0, count, 2_000).astype(np.int32)
    rows = np.sort(random.integers(0, 10_000, 2_000))
    found, starts = rows_by_query(rows, places, count)
    assert len(starts) == count + 1
    assert (starts[0], starts[-1]) == (0, 2_000)
    assert np.array_equal(found, rows[np.argsort(places, kind="stable")])
    assert np.array_equal(np.diff(starts), np.bincount(places, minlength=count))


def test_no_pair_is_no_row() -> None:
    found, starts = rows_by_query(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32), 2)
    assert (found.tolist(), starts.tolist()) == ([], [0, 0, 0])
