"""The compiled loops along sequences: the same pairs at once and one construct at a time, however little room."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.evaluation.kernels import ROOM, _write_ones, sweep, walk

NOTHING = np.empty(0, dtype=np.int32)
NO_WORDS = np.empty((0, 0), dtype=np.uint64)
EXACT = (NOTHING, np.empty(0, np.uint16), np.empty(0, np.int32), np.empty(0, np.int32), -(2**31), 2**31 - 1)
# The GRB to start with; then for each of two constructs: qub, two regions, NULL's.
MATRIX = np.array([[0b11], [0b01], [0b11], [0b10], [0b10], [0b10], [0b01], [0b11], [0b01]], dtype=np.uint64)
REGIONS = np.array([[0, 1, 0, 2], [1, 1, 0, 0], [0, 0, 0, 0]], dtype=np.uint16)
PAIRS = [(0, 0), (0, 1), (1, 1), (2, 0)]
"""By hand: conjunct 0 needs the first region of the first construct, conjunct 1 the second of the second."""


def run(kernel: str, found: np.ndarray, begin: int, count: int) -> tuple[int, int, int, int]:
    keys, null_regions = np.zeros((2, 4), dtype=np.int64), np.array([2, 2], dtype=np.uint16)
    owner, rank = np.arange(64, dtype=np.int32), np.arange(64, dtype=np.int32)
    words, places = (np.empty(1, np.uint64) for _ in range(2)), (np.empty(size, np.int64) for size in (1, 64 + ROOM))
    room = (*words, *places, found, count)
    rest = (NO_WORDS, False, EXACT, owner, rank, *room)
    if kernel == "walk":
        order = np.array([1, 0], dtype=np.int32)
        slots, bases = np.array([0, 1]), np.array([2, 6])
        along = (slots, bases, order, NOTHING, np.zeros(2, dtype=np.bool_))
        return walk(REGIONS, keys, null_regions, False, begin, 4, 0, MATRIX, *along, *rest)
    along_all = (np.array([1, 0, 2, 2]), np.array([6, 2, 0, 0]), 2)
    return sweep(REGIONS, keys, null_regions, False, begin, 4, 0, MATRIX, *along_all, *rest)


@pytest.mark.parametrize("kernel", ["walk", "sweep"])
def test_pairs_by_hand(kernel: str) -> None:
    found = np.empty(4 * 64 + ROOM, dtype=np.int64)
    row, count, evaluated, dropped = run(kernel, found, 0, 0)
    assert (row, dropped) == (4, 1)
    assert evaluated == 8
    assert [(int(pair) >> 32, int(pair) & 0xFFFF_FFFF) for pair in found[:count]] == PAIRS


@pytest.mark.parametrize("kernel", ["walk", "sweep"])
def test_it_ends_early_where_a_row_may_not_fit(kernel: str) -> None:
    found = np.empty(64 + ROOM, dtype=np.int64)
    row, count, _, _ = run(kernel, found, 0, 0)
    assert (row, count) == (1, 2)
    more = np.concatenate([found, np.empty(4 * 64, dtype=np.int64)])
    row, count, _, _ = run(kernel, more, row, count)
    assert row == 4
    assert [(int(pair) >> 32, int(pair) & 0xFFFF_FFFF) for pair in more[:count]] == PAIRS


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.one_of(st.just(0), st.just(2**64 - 1), st.integers(0, 2**64 - 1)), min_size=1, max_size=6))
def test_ones(drawn: list[int]) -> None:
    words, some = np.array(drawn, dtype=np.uint64), np.empty(len(drawn), dtype=np.int64)
    places = np.full(1 + 64 * len(drawn) + ROOM, -1, dtype=np.int64)
    expected = [64 * i + bit for i, word in enumerate(drawn) for bit in range(64) if word >> bit & 1]
    count = _write_ones(words, some, places, 1)
    assert places[1:count].tolist() == expected
