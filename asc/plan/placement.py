"""Placement: the choice of a block of the plan, and of free bits in this block, for each added query."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from asc.keys.grid import Grid
from asc.plan.block import LINE, WORD, Block, build_block
from asc.plan.conjuncts import ConjunctTable
from asc.plan.grouping import NOWHERE, Homes, query_starts
from asc.plan.plan import CompileOptions

Bits = npt.NDArray[np.int64]

_BITS = LINE * WORD
"""The number of bits of a line, which is the number of conjuncts that share the line."""


def words_of(bits: int) -> int:
    """Return the number of 64-bit words that are needed for ``bits`` bits; at least 1."""
    return max(1, -(-bits // WORD))


def placed(blocks: list[Block], table: ConjunctTable, grids: Sequence[Grid], options: CompileOptions) -> list[Block]:
    """Return the blocks of a plan with the queries of a table added. The conjuncts of a query get adjacent free bits.

    A query gets bits in a line of its home, namely the line whose key is nearest to the key of the query's home. If
    there are none, it gets bits in the first line whose home is NOWHERE. In a line of another home, the query would
    make tuples read a line that they could otherwise skip. If no bits are free, the last block grows by a line, or a
    new block begins. A block is copied once, however many queries it receives. Cost: for each query, a search of the
    free bits of a line, and for each changed block, a copy. For all queries with the same number of conjuncts together:
    one search of the free bits of all lines.
    """
    blocks = list(blocks)
    free_bits = _FreeBits(blocks, len(grids), words_of(options.block_conjuncts))
    homes = Homes.of(table, grids, free_bits.lines)
    first = query_starts(table)
    slots, keys = homes.slots[first[:-1]].tolist(), homes.keys[first[:-1]].tolist()
    taken: dict[int, list[tuple[Bits, Bits]]] = {}
    for (low, high), slot, key in zip(pairwise(first.tolist()), slots, keys, strict=True):
        number, at = free_bits.take(high - low, slot, key)
        taken.setdefault(number, []).append((np.arange(low, high), np.arange(at, at + high - low)))
    for number, pairs in sorted(taken.items()):
        conjuncts, bits = (np.concatenate(arrays) for arrays in zip(*pairs, strict=True))
        words = len(free_bits.free[number]) // WORD
        if number == len(blocks):
            blocks.append(build_block(table.take(conjuncts), grids, words))
            continue
        block = blocks[number] if blocks[number].matrix.shape[1] == words else blocks[number].widened(words)
        blocks[number] = block.with_conjuncts(table.take(conjuncts), grids, bits)
    return blocks


class _FreeBits:
    """The free bits of the blocks of a plan, and of the new blocks that begin when no bits are free. The methods assign
    these bits to queries.

    ``free`` bool[bits] by block. ``lines`` int64[slots]: the number of lines of each home. Invariant: no bit becomes
    free again. So a line without a run of a certain number of adjacent free bits never has one later, and is not
    searched again for that number. ``_tried`` is for lines of NOWHERE: for each such number, the last block with a run.
    Earlier blocks are skipped. For lines of a home, ``_Lines`` drops each line without a run.
    """

    def __init__(self, blocks: Sequence[Block], slots: int, limit: int) -> None:
        self.free = [block.table.owner < 0 for block in blocks]
        self._limit = limit
        self._nowhere = [np.repeat(block.homes.slots == NOWHERE, _BITS)[: block.capacity] for block in blocks]
        self._tried: dict[int, int] = {}
        sizes = [len(block.homes.slots) for block in blocks]
        none = np.empty(0, dtype=np.int64)
        self._block = np.repeat(np.arange(len(blocks)), sizes)
        self._begin = np.concatenate([none, *(np.arange(size) * _BITS for size in sizes)])
        self._slots = np.concatenate([none, *(block.homes.slots for block in blocks)])
        self._keys = np.concatenate([none, *(block.homes.keys for block in blocks)])
        self.lines = np.bincount(self._slots[self._slots >= 0], minlength=slots)
        self._at: dict[tuple[int, int], _Lines] = {}

    def take(self, length: int, slot: int, key: int) -> tuple[int, int]:
        """Assign ``length`` adjacent bits to a query. ``slot``, ``key``: the p-attribute and the key of the query's
        home. Return the number of the block and the first bit.
        """
        number, at = self._near(length, slot, key) if slot != NOWHERE else (-1, -1)
        if at < 0:
            number, at = self._anywhere(length)
        self.free[number][at : at + length] = False
        return number, at

    def _near(self, length: int, slot: int, key: int) -> tuple[int, int]:
        """Find ``length`` adjacent free bits in the lines of a home. Search lines whose key is near to ``key`` first.
        Return the number of the block and the first bit, or (-1, -1) if there are no such bits.
        """
        if (slot, length) not in self._at:
            own = np.flatnonzero(self._slots == slot)
            own = own[np.argsort(self._keys[own], kind="stable")]
            self._at[slot, length] = _Lines(own.tolist(), self._keys[own].tolist())
        lines = self._at[slot, length]
        while lines.numbers:
            place = lines.nearest(key)
            number, begin = int(self._block[lines.numbers[place]]), int(self._begin[lines.numbers[place]])
            at = _free_run(self.free[number][begin : begin + _BITS], length)
            if at >= 0:
                return number, begin + at
            lines.drop(place)
        return -1, -1

    def _anywhere(self, length: int) -> tuple[int, int]:
        """Find ``length`` adjacent free bits in the lines whose home is NOWHERE. If there are none, extend a block.
        Return the number of the block and the first bit.
        """
        for number in range(self._tried.get(length, 0), len(self.free)):
            at = _free_run(self.free[number] & self._nowhere[number], length)
            if at >= 0:
                break
        else:
            number, at = self._grown(length)
        self._tried[length] = number
        return number, at

    def _grown(self, length: int) -> tuple[int, int]:
        """Extend the last block, or begin a new one, for a query of ``length`` conjuncts. Return the number of the
        block and the first bit.
        """
        bits = len(self.free[-1]) if self.free else self._limit * WORD
        # A line that another home has started is not completed: the query begins on the next line.
        begin = bits if not self.free or self._nowhere[-1][-1] else -(-bits // _BITS) * _BITS
        words = words_of(begin + length)
        if words > self._limit:
            begin, words, bits = 0, words_of(length), 0
            self.free.append(np.empty(0, dtype=np.bool_))
            self._nowhere.append(np.empty(0, dtype=np.bool_))
        words = max(words, min(words_of(bits) + LINE if bits else LINE, self._limit))
        more = np.arange(bits, words * WORD)
        self.free[-1] = np.append(self.free[-1], np.ones(len(more), dtype=np.bool_))
        self._nowhere[-1] = np.append(self._nowhere[-1], more >= begin)
        return len(self.free) - 1, begin


class _Lines:
    """The lines of one home that may have enough adjacent free bits for a query with a certain number of conjuncts.
    They are in ascending order of their ``keys``.
    """

    def __init__(self, numbers: list[int], keys: list[int]) -> None:
        self.numbers, self._keys = numbers, keys

    def nearest(self, key: int) -> int:
        """Return the index of the line whose key is nearest to ``key``."""
        after = bisect_right(self._keys, key)
        if after in (0, len(self._keys)):
            return min(after, len(self._keys) - 1)
        return after if self._keys[after] - key < key - self._keys[after - 1] else after - 1

    def drop(self, place: int) -> None:
        del self.numbers[place], self._keys[place]


def _free_run(free: npt.NDArray[np.bool_], length: int) -> int:
    """Return the first of ``length`` adjacent bits that are all free; -1 if there are no such bits. ``free``: True for
    each free bit.
    """
    if length == 1:
        first = int(free.argmax()) if len(free) else 0
        return first if len(free) and free[first] else -1
    counts = np.zeros(len(free) + 1, dtype=np.int64)
    np.cumsum(free, out=counts[1:])
    runs = np.flatnonzero(counts[length:] - counts[:-length] == length)
    return int(runs[0]) if len(runs) else -1
