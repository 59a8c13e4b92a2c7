"""Grouping of rows by equal keys: each row gets the number of its cell. Cells are numbered in the order of
their keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asc.frozen import frozen
from asc.operators.cube.kernels import (
    DIGIT_BITS,
    combine,
    combine_all,
    gather,
    hash_keys,
    mark,
    rank,
    renumber,
    sort_pass,
)

_KEYS_MOST = 2**62
"""The largest number of possible keys of several digits, so that each key fits into an int64. If a further digit would
exceed it, the keys of the preceding digits are first replaced by their ranks.
"""
_DIRECT_LEAST = 1 << 16
"""The number of possible keys up to which rows are grouped by a table with an entry for each possible key, for any
number of rows.
"""
_SLOTS_A_ROW = 2
_PROBES_A_ROW, _PROBES_LEAST = 16, 4_096
"""The limit of the probes of the hash table: ``_PROBES_A_ROW`` for each row, plus ``_PROBES_LEAST``. The probe that
finds a free slot or the same key does not count; most rows need no other probe.
"""
_CODES_MOST = 2**31 - 1
"""The largest number of codes of one digit."""


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """The assignment of rows to cells.

    ``cells`` int32[rows], not writeable: the cell number of each row. ``firsts`` int32[cells]: the first row of each
    cell. Invariant: cells are numbered in ascending order of their keys.
    """

    cells: npt.NDArray[np.int32]
    firsts: npt.NDArray[np.int32]

    @property
    def count(self) -> int:
        """Return the number of cells."""
        return len(self.firsts)

    @staticmethod
    def of(
        digits: Sequence[tuple[npt.NDArray[np.int32], int]], count: int, rows: npt.NDArray[np.int64] | None = None
    ) -> Grouping:
        """Return the cells of ``count`` rows, grouped by several digits. The most significant digit comes first.

        A digit is a pair: codes int32[n], not writeable, and a radix that is greater than all codes. ``rows``: the
        indices of the rows in the codes; None means all rows in order. Without digits, all rows are one cell. Cost: a
        pass for each digit. Few possible keys are then grouped by a table, others by a hash table and a sort of the
        cells. If too many keys collide in the hash table, as an adversary could arrange, the rows are sorted instead.
        """
        keys = np.zeros(count, dtype=np.int64)
        radix = 1
        for codes, digit_radix in digits:
            if radix * digit_radix > _KEYS_MOST:
                different, inverse = np.unique(keys, return_inverse=True)
                keys, radix = inverse.astype(np.int64), len(different)
            if rows is None:
                combine_all(keys, codes, digit_radix)
            else:
                combine(keys, codes, rows, digit_radix)
            radix *= digit_radix
        frozen(keys)
        if radix <= max(_DIRECT_LEAST, _SLOTS_A_ROW * count):
            return _by_table(keys, radix)
        return _by_hash(keys, radix)


def pane_digit(panes: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int32], int]:
    """Return the panes as a digit of a key, in the order of the pane numbers."""
    least = int(panes.min())
    span = int(panes.max()) - least + 1
    if span > _CODES_MOST:
        different, codes = np.unique(panes, return_inverse=True)
        return frozen(codes.astype(np.int32)), len(different)
    return frozen((panes - least).astype(np.int32)), span


def _by_table(keys: npt.NDArray[np.int64], radix: int) -> Grouping:
    present = np.zeros(radix, dtype=np.bool_)
    mark(keys, present)
    ranks = np.cumsum(present, dtype=np.int32) - np.int32(1)
    count = int(ranks[-1]) + 1
    cells, firsts = np.empty(len(keys), dtype=np.int32), np.empty(count, dtype=np.int32)
    rank(keys, frozen(ranks), cells, firsts)
    return Grouping(frozen(cells), frozen(firsts))


def _by_hash(keys: npt.NDArray[np.int64], radix: int) -> Grouping:
    bits = max(1, (_SLOTS_A_ROW * len(keys) - 1).bit_length())
    cells, firsts = np.empty(len(keys), dtype=np.int32), np.empty(len(keys), dtype=np.int32)
    probes = _PROBES_A_ROW * len(keys) + _PROBES_LEAST
    count = hash_keys(keys, np.zeros(1 << bits, dtype=np.int32), probes, cells, firsts)
    if count < 0:
        return _by_sort(keys)
    firsts, different = frozen(firsts[:count]), np.empty(count, dtype=np.int64)
    gather(keys, firsts, different)
    order = frozen(_sorted_order(frozen(different), radix))
    ranks = np.empty(count, dtype=np.int32)
    ranks[order] = np.arange(count, dtype=np.int32)
    renumber(cells, frozen(ranks))
    in_order = np.empty(count, dtype=np.int32)
    gather(firsts, order, in_order)
    return Grouping(frozen(cells), frozen(in_order))


def _by_sort(keys: npt.NDArray[np.int64]) -> Grouping:
    _, firsts, cells = np.unique(keys, return_index=True, return_inverse=True)
    return Grouping(frozen(cells.astype(np.int32)), frozen(firsts.astype(np.int32)))


def _sorted_order(keys: npt.NDArray[np.int64], radix: int) -> npt.NDArray[np.int32]:
    """Return the order that sorts distinct keys. All keys are below ``radix``."""
    order, out = np.arange(len(keys), dtype=np.int32), np.empty(len(keys), dtype=np.int32)
    for shift in range(0, (radix - 1).bit_length(), DIGIT_BITS):
        sort_pass(keys, order, shift, np.zeros(1 << DIGIT_BITS, dtype=np.int64), out)
        order, out = out, order
    return order
