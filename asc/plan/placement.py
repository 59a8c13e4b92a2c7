"""Placement: which bits of which blocks added queries get."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from asc.keys.grid import Grid
from asc.plan.block import WORD, Block, build_block
from asc.plan.conjuncts import ConjunctTable, Integers
from asc.plan.plan import CompileOptions

_MORE_WORDS = 4


def words_of(bits: int) -> int:
    """The words that hold so many bits, at least one."""
    return max(1, -(-bits // WORD))


def placed(blocks: list[Block], table: ConjunctTable, grids: Sequence[Grid], options: CompileOptions) -> list[Block]:
    """The blocks, and the queries of the table in the first free bits that stand side by side in sufficient number.

    Where there are none the last block grows by a few words (every change copies it anyway), or a new one begins. A
    block is copied once, however many queries it receives. Cost: a look at the free bits of every block for each number
    of conjuncts that a query has, one at those of a block a query, and the copies.
    """
    blocks = list(blocks)
    taken: dict[int, list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]] = {}
    free = [block.table.owner < 0 for block in blocks]
    limit = words_of(options.block_conjuncts)
    tried: dict[int, int] = {}
    for low, high in _runs(table.owner):
        length = high - low
        # Bits are only taken, so what is before the last place for so many has no room for as many more.
        number = tried.get(length, 0)
        while number < len(free) and (at := _free_run(free[number], length)) < 0:
            number += 1
        if number == len(free):
            words = len(free[-1]) // WORD if free else limit
            if words + words_of(length) <= limit:
                more = min(max(_MORE_WORDS, words_of(length)), limit - words)
                free[-1] = np.append(free[-1], np.ones(more * WORD, dtype=np.bool_))
            else:
                free.append(np.ones(max(_MORE_WORDS, words_of(length)) * WORD, dtype=np.bool_))
            number, at = len(free) - 1, _free_run(free[-1], length)
        tried[length] = number
        free[number][at : at + length] = False
        taken.setdefault(number, []).append((np.arange(low, high), np.arange(at, at + length)))
    for number, pairs in sorted(taken.items()):
        conjuncts, bits = (np.concatenate(arrays) for arrays in zip(*pairs, strict=True))
        words = len(free[number]) // WORD
        if number == len(blocks):
            blocks.append(build_block(table.take(conjuncts), grids, words))
            continue
        block = blocks[number] if blocks[number].matrix.shape[1] == words else blocks[number].widened(words)
        blocks[number] = block.with_conjuncts(table.take(conjuncts), grids, bits)
    return blocks


def _runs(owner: Integers) -> list[tuple[int, int]]:
    """Where the conjuncts of each query begin and end."""
    starts = [*np.flatnonzero(np.diff(owner, prepend=-1)).tolist(), len(owner)]
    return list(pairwise(starts))


def _free_run(free: npt.NDArray[np.bool_], length: int) -> int:
    """The first of ``length`` neighbouring free bits; -1 where there are none."""
    if length == 1:
        first = int(free.argmax()) if len(free) else 0
        return first if len(free) and free[first] else -1
    counts = np.zeros(len(free) + 1, dtype=np.int64)
    np.cumsum(free, out=counts[1:])
    runs = np.flatnonzero(counts[length:] - counts[:-length] == length)
    return int(runs[0]) if len(runs) else -1
