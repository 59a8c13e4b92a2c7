"""The index of a block that is listed by values. It finds the conjuncts that require the value of a tuple."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.compiled import inlined
from asc.frozen import OfArrays, arrays_of, frozen, frozen_int32
from asc.keys.grid import Keys
from asc.plan.conjuncts import SLOT_MASK, Integers

Array = npt.NDArray[Any]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""The multiplier of keys. It is odd, so that distinct keys have distinct products. Its bits are those of the golden
ratio, so that the products of neighbouring keys are far apart.
"""

_BITS = 64


class ValueIndexArrays(NamedTuple):
    """The arrays of an index of values as kernels read them: those of :class:`ValueIndex`."""

    spread: Array
    heads: Array
    first: Array
    conjuncts: Array


@dataclass(frozen=True, eq=False)
class ValueIndex(OfArrays):
    """Posting lists of conjuncts, by the keys that they require.

    ``spread`` uint64[n]: the distinct keys multiplied by a constant, modulo 2**64, ascending. ``heads`` int32[2**b +
    1]: entry i is the first spread key whose upper b bits are at least i. ``first`` int32[n + 1]: the conjuncts that
    require key i are ``first[i]`` to ``first[i + 1]`` of ``conjuncts``, ascending.

    Invariant: a conjunct is listed once under each key that it requires. Cost: 16 to 20 bytes a key, and 4 bytes for
    each pair of conjunct and key. A look-up takes at most log2(n) steps, whatever the keys, and usually one or two. A
    binary search in sorted keys was rejected: its 17 steps among 100,000 keys take 95 ns instead of 6. A hash table
    with open addressing was rejected too: keys that a user chooses on purpose can make a look-up visit all keys.
    """

    spread: npt.NDArray[np.uint64]
    heads: Integers
    first: Integers
    conjuncts: Integers

    @staticmethod
    def of(keys: Keys, conjuncts: npt.NDArray[np.int64]) -> ValueIndex:
        """Return the index of pairs of a key and a conjunct, ``keys[i]`` and ``conjuncts[i]``. A conjunct may occur
        with several keys.
        """
        spread = keys.view(np.uint64) * _FACTOR
        order = np.lexsort((conjuncts, spread))
        different, counts = np.unique(spread, return_counts=True)
        bits = max(1, len(different).bit_length())
        ends = np.arange(1, 1 << bits, dtype=np.uint64) << np.uint64(_BITS - bits)
        heads = np.concatenate([[0], np.searchsorted(different, ends), [len(different)]])
        return ValueIndex(
            frozen(different),
            frozen_int32(heads),
            frozen_int32(np.concatenate([[0], np.cumsum(counts)])),
            frozen_int32(conjuncts[order]),
        )

    def __len__(self) -> int:
        """Return the number of distinct keys."""
        return len(self.spread)

    @cached_property
    def arguments(self) -> ValueIndexArrays:
        """The arrays as kernels read them. They are cached, because each batch reads them."""
        return ValueIndexArrays(*arrays_of(self).values())

    def conjuncts_for(self, key: int) -> Integers:
        """Return the conjuncts that require a key, ascending."""
        own = np.array([key], dtype=np.int64).view(np.uint64) * _FACTOR
        place = int(np.searchsorted(self.spread, own)[0])
        if place == len(self) or self.spread[place] != own[0]:
            return self.conjuncts[:0]
        return self.conjuncts[self.first[place] : self.first[place + 1]]


@inlined
def shift_of(heads: Array) -> int:
    """Return the number of low bits of a spread key that are not part of its index in ``heads`` (see
    :class:`ValueIndex`).
    """
    shift, cells = _BITS, heads.size - 1
    while cells > 1:
        cells >>= 1
        shift -= 1
    return shift


@inlined
def place_of(spread: Array, heads: Array, shift: int, key: int) -> int:
    """Return the index of a key among the spread keys of a :class:`ValueIndex`; -1 if no conjunct requires the key."""
    spread_key = np.uint64(key) * _FACTOR
    cell = np.int64(spread_key >> np.uint64(shift))
    low, end = np.int64(heads[cell]), np.int64(heads[cell + 1])
    high = end
    while low < high:
        middle = (low + high) >> 1
        if spread[middle] < spread_key:
            low = middle + 1
        else:
            high = middle
    return low if low < end and spread[low] == spread_key else -1


@inlined
def begin_of_others(code: Array, begin: int, end: int, slot: int) -> int:
    """Return the first interval of a conjunct that remains to be evaluated. The intervals before it are the values of
    ``slot`` under which the conjunct is listed. ``begin``, ``end``: the intervals of the conjunct.
    """
    i: int = np.int64(begin) + 1
    while i < end and np.int64(code[i]) & SLOT_MASK == slot:
        i += 1
    return i
