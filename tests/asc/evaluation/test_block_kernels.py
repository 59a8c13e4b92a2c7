"""The compiled loops along sequences: the same pairs at once and one construct at a time, however little room."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.evaluation.block_kernels import IN_DOUBT, SPARE_PAIRS, _write_pairs, sweep, walk
from asc.evaluation.chunk_arrays import ChunkArrays, Scratch
from asc.plan.block_arrays import BlockArrays, HybridArrays, SequenceArrays
from asc.plan.conjuncts import TableArrays

NOTHING = np.empty(0, dtype=np.int32)
NO_WORDS = np.empty((0, 0), dtype=np.uint64)
OWNER = np.arange(64, dtype=np.int32)
TABLE = TableArrays(NOTHING, np.empty(0, np.uint16), NOTHING, NOTHING, OWNER, -(2**31), 2**31 - 1)
# The GRB to start with; then for each of two constructs: qub, two regions, NULL's.
MATRIX = np.array([[0b11], [0b01], [0b11], [0b10], [0b10], [0b10], [0b01], [0b11], [0b01]], dtype=np.uint64)
REGIONS = np.array([[0, 1, 0, 2], [1, 1, 0, 0], [0, 0, 0, 0]], dtype=np.uint16)
PAIRS = [(0, 0), (0, 1), (1, 1), (2, 0)]
"""By hand: conjunct 0 needs the first region of the first construct, conjunct 1 the second of the second."""


ALIKE = (np.zeros(4, dtype=np.int32), MATRIX)
"""All tuples begin with the block's own GRB."""

ALL_ALIVE = np.ones(len(MATRIX), dtype=np.uint64)
BLOCK = BlockArrays(MATRIX, ALL_ALIVE, 8, NOTHING, NO_WORDS, False, TABLE)
RANKS = np.arange(64, dtype=np.int32)


def run(
    kernel: str,
    found: np.ndarray,
    begin: int,
    count: int,
    *,
    starting: tuple[np.ndarray, np.ndarray] = ALIKE,
) -> tuple[int, int, int, int]:
    keys, null_regions = np.zeros((2, 4), dtype=np.int64), np.array([2, 2], dtype=np.uint16)
    chunk = ChunkArrays(REGIONS, keys, null_regions, False, 0)
    rest = (RANKS, Scratch.of(1, 2), found, count)
    if kernel == "walk":
        hybrid = HybridArrays(np.array([0, 1]), np.array([2, 6]), np.array([1, 0], dtype=np.int32), NOTHING)
        return walk(chunk, *starting, begin, 4, BLOCK, hybrid, *rest)
    sequence = SequenceArrays(np.array([1, 0, -1, -1]), np.array([6, 2, 0, 0]), 2)
    return sweep(chunk, *starting, begin, 4, BLOCK, sequence, *rest)


@pytest.mark.parametrize("kernel", ["walk", "sweep"])
def test_pairs_by_hand(kernel: str) -> None:
    found = np.empty(4 * 64 + SPARE_PAIRS, dtype=np.int64)
    row, count, evaluated, dropped = run(kernel, found, 0, 0)
    assert (row, dropped) == (4, 1)
    assert evaluated == 8
    assert [(int(pair) >> 32, int(pair) & 0xFFFF_FFFF) for pair in found[:count]] == PAIRS


@pytest.mark.parametrize("kernel", ["walk", "sweep"])
def test_a_tuple_begins_with_what_it_is_told(kernel: str) -> None:
    found = np.empty(4 * 64 + SPARE_PAIRS, dtype=np.int64)
    starts = np.array([[0b01], [0b10], [0b11]], dtype=np.uint64)
    row, count, _, dropped = run(kernel, found, 0, 0, starting=(np.array([0, 0, -1, 2], dtype=np.int32), starts))
    assert (row, dropped) == (4, 3)
    assert [(int(pair) >> 32, int(pair) & 0xFFFF_FFFF) for pair in found[:count]] == [(0, 0)]


@pytest.mark.parametrize("kernel", ["walk", "sweep"])
def test_it_ends_early_where_a_row_may_not_fit(kernel: str) -> None:
    found = np.empty(64 + SPARE_PAIRS, dtype=np.int64)
    row, count, _, _ = run(kernel, found, 0, 0)
    assert (row, count) == (1, 2)
    more = np.concatenate([found, np.empty(4 * 64, dtype=np.int64)])
    row, count, _, _ = run(kernel, more, row, count)
    assert row == 4
    assert [(int(pair) >> 32, int(pair) & 0xFFFF_FFFF) for pair in more[:count]] == PAIRS


MASK = 2**64 - 1


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.one_of(st.just(MASK), st.integers(1, MASK))] * 2), max_size=6))
def test_a_pair_for_each_one(drawn: list[tuple[int, int]]) -> None:
    grb, doubt = (np.array([own[i] for own in drawn], dtype=np.uint64) for i in range(2))
    found = np.full(1 + 64 * len(drawn) + SPARE_PAIRS, -1, dtype=np.int64)
    count = _write_pairs(np.arange(len(drawn)) * 3, grb, doubt, len(drawn), 5, found, 1)
    expected = [
        5 << 32 | (192 * i + bit) | (IN_DOUBT if doubts >> bit & 1 else 0)
        for i, (word, doubts) in enumerate(drawn)
        for bit in range(64)
        if word >> bit & 1
    ]
    assert found[1:count].tolist() == expected
