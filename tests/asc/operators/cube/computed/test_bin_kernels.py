"""The search of bins equals NumPy's, NaN included."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube.computed.bin_kernels import BLOCK, find_bins, write_codes

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.integers(1, 8), st.data())
def test_a_value_is_in_the_bin_of_the_edges_that_are_not_above_it(power: int, data: st.DataObject) -> None:
    count = 2**power - 1
    edges = np.array(sorted(data.draw(st.lists(FLOATS, min_size=count, max_size=count))))
    below = [math.nextafter(edge, -math.inf) for edge in edges.tolist()]
    others = st.floats() | st.sampled_from([*edges.tolist(), *below])
    values = np.array(data.draw(st.lists(others, max_size=20)), dtype=np.float64)
    bins = np.empty(len(values), dtype=np.int32)
    find_bins(values, edges, bins)
    expected = [count if math.isnan(value) else sum(edge <= value for edge in edges.tolist()) for value in values]
    assert bins.tolist() == expected


@pytest.mark.parametrize("count", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_blocks_have_no_seam(count: int) -> None:
    values = np.random.default_rng(count).normal(size=count)
    edges = np.sort(np.random.default_rng(1).normal(size=63))
    bins = np.full(count, -1, dtype=np.int32)
    find_bins(values, edges, bins)
    assert bins.tolist() == np.searchsorted(edges, values, side="right").tolist()


def test_codes_are_those_of_the_bins_and_zero_is_null() -> None:
    bins, of_bins = np.array([0, 1, 1, 2], dtype=np.int32), np.array([1, 1, 2], dtype=np.int32)
    codes = np.empty(4, dtype=np.int32)
    write_codes(bins, of_bins, np.zeros(0, dtype=np.bool_), codes)
    assert codes.tolist() == [1, 1, 1, 2]
    write_codes(bins, of_bins, np.array([False, True, False, False]), codes)
    assert codes.tolist() == [1, 0, 1, 2]
