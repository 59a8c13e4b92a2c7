"""The compiled loops along sequences: the same pairs at once and one construct at a time, however little room."""

from __future__ import annotations

import numpy as np
import pytest

from asc.evaluation.kernels import sweep, walk

NOTHING = np.empty(0, dtype=np.int32)
EXACT = (NOTHING, np.empty(0, np.uint16), np.empty(0, np.int32), np.empty(0, np.int32), -(2**31), 2**31 - 1)
# The GRB to start with; then for each of two constructs: qub, two regions, NULL's.
MATRIX = np.array([[0b11], [0b01], [0b11], [0b10], [0b10], [0b10], [0b01], [0b11], [0b01]], dtype=np.uint64)
REGIONS = np.array([[0, 1, 0, 2], [1, 1, 0, 0], [0, 0, 0, 0]], dtype=np.uint16)
PAIRS = [(0, 0), (0, 1), (1, 1), (2, 0)]
"""By hand: conjunct 0 needs the first region of the first construct, conjunct 1 the second of the second."""


def run(kernel: str, found: np.ndarray, begin: int, count: int) -> tuple[int, int, int, int]:
    keys, null_regions = np.zeros((2, 4), dtype=np.int64), np.array([2, 2], dtype=np.uint16)
    owner, rank = np.arange(64, dtype=np.int32), np.arange(64, dtype=np.int32)
    grb = np.empty(1, dtype=np.uint64)
    if kernel == "walk":
        order = np.array([1, 0], dtype=np.int32)
        slots, bases = np.array([0, 1]), np.array([2, 6])
        along = (slots, bases, order, NOTHING, np.zeros(2, dtype=np.bool_))
        return walk(REGIONS, keys, null_regions, begin, 4, 0, MATRIX, *along, EXACT, owner, rank, grb, found, count)
    along_all = (np.array([1, 0, 2, 2]), np.array([6, 2, 0, 0]), 2)
    return sweep(REGIONS, keys, null_regions, begin, 4, 0, MATRIX, *along_all, EXACT, owner, rank, grb, found, count)


@pytest.mark.parametrize("kernel", ["walk", "sweep"])
def test_pairs_by_hand(kernel: str) -> None:
    found = np.empty(4 * 64, dtype=np.int64)
    row, count, evaluated, dropped = run(kernel, found, 0, 0)
    assert (row, dropped) == (4, 1)
    assert evaluated == 8
    assert [(int(pair) >> 32, int(pair) & 0xFFFF_FFFF) for pair in found[:count]] == PAIRS


@pytest.mark.parametrize("kernel", ["walk", "sweep"])
def test_it_ends_early_where_a_row_may_not_fit(kernel: str) -> None:
    found = np.empty(64, dtype=np.int64)
    row, count, _, _ = run(kernel, found, 0, 0)
    assert (row, count) == (1, 2)
    more = np.concatenate([found, np.empty(4 * 64, dtype=np.int64)])
    row, count, _, _ = run(kernel, more, row, count)
    assert row == 4
    assert [(int(pair) >> 32, int(pair) & 0xFFFF_FFFF) for pair in more[:count]] == PAIRS
