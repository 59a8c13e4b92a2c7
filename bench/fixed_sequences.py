"""SEQ_best and SEQ_worst: the fixed orders of lowest and highest cost on a sample (section 7 of the paper).

A tuple is alive after a set of constructs if some conjunct fails on none of these constructs. This does not depend on
the order of the constructs. So the cost of an order is the sum, over its proper prefixes, of the number of tuples that
are alive after the prefix. The best and the worst order are the shortest and the longest path through the 2^n subsets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import allocating, compiled, ones
from asc.errors import AscError
from asc.plan.block import Block
from monitor.macro import macro_sequence
from monitor.moves import moved
from monitor.sample import Sample

EXACT_CONSTRUCTS = 20
"""The largest number of constructs for which the two sequences are exact for the sample. With more constructs, local
search finds them.
"""

_LOW_BITS = 14

Array = npt.NDArray[Any]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FixedSequences:
    """The orders of lowest and highest cost on a sample of ``tuples``.

    ``exact``: true if the two orders are proven to have the lowest and the highest cost on the sample. If false, they
    were found by local search: the macro-sequence and its reverse were improved by moving one construct at a time until
    no move helped. ``least``: the mean number of constructs that a tuple needs if the order is chosen for each tuple;
    None if the sequences are not exact.
    """

    best: tuple[int, ...]
    worst: tuple[int, ...]
    tuples: int
    exact: bool
    least: float | None


def fixed_sequences(block: Block, sample: Sample, *, exact_constructs: int = EXACT_CONSTRUCTS) -> FixedSequences:
    """Return the best and the worst fixed order for the tuples of a sample."""
    constructs = len(block.slots)
    if constructs <= exact_constructs:
        alive, least = alive_after_subsets(block, sample)
        return FixedSequences(_extreme(alive, -1), _extreme(alive, 1), len(sample), True, float(least.mean()))
    start = macro_sequence(block, sample).sequence
    best = moved(block, sample, start, work=None)
    worst = moved(block, sample, start[::-1], raises=True, work=None)
    return FixedSequences(best, worst, len(sample), False, None)


def alive_after_subsets(block: Block, sample: Sample) -> tuple[Counts, Counts]:
    """Return two arrays. The first, int64[2^n], has the number of tuples alive after each subset of the n constructs;
    bit i of the index represents construct i. The second has the least cost of each tuple.

    The least cost is the smallest number of constructs that together drop the tuple, or n if no subset does. No order
    costs less for this tuple.

    Cost: 2^n * n word operations and 8 * 2^n bytes for every 64 tuples, for any number of conjuncts; 20 constructs take
    about a second for 5,000 tuples.
    """
    constructs = len(block.slots)
    if constructs > EXACT_CONSTRUCTS:
        raise AscError("number of constructs", constructs, f"all subsets are counted for {EXACT_CONSTRUCTS} at most")
    alive = np.zeros(1 << constructs, dtype=np.int64)
    least = np.full(len(sample), constructs, dtype=np.int64)
    _count_alive(sample.regions, block.matrix, sample.rows(block), alive, least)
    return alive, least


@allocating
def _count_alive(regions: Array, matrix: Array, rows: Array, alive: Array, least: Array) -> None:
    """Count the tuples alive after each subset of the constructs, sixty-four tuples at a time. Each bit of ``after[S]``
    represents one tuple, and is 1 if the tuple is alive after the subset S.

    First, for each conjunct, mark only the largest subset after which the tuple is alive: all constructs on which the
    tuple passes the conjunct. Then copy the marks of each subset to all of its subsets.
    """
    constructs, tuples = regions.shape
    subsets = alive.size
    after = np.empty(subsets, dtype=np.uint64)
    dead = np.empty(constructs + 1, dtype=np.uint64)
    low_bits = min(constructs, _LOW_BITS)
    for start in range(0, tuples, 64):
        count = min(64, tuples - start)
        after[:] = np.uint64(0)
        for t in range(count):
            mark = np.uint64(1) << np.uint64(t)
            for word in range(matrix.shape[1]):
                left = matrix[0, word]
                for bit in range(64):
                    if (left >> np.uint64(bit)) & np.uint64(1):
                        passed = 0
                        for i in range(constructs):
                            row = matrix[rows[i] + regions[i, start + t], word]
                            passed |= np.int64((row >> np.uint64(bit)) & np.uint64(1)) << i
                        after[passed] |= mark
        for i in range(low_bits, constructs):
            step = 1 << i
            for base in range(0, subsets, 2 * step):
                for subset in range(base, base + step):
                    after[subset] |= after[subset + step]
        dead[:] = np.uint64(0)
        block = 1 << low_bits
        for first in range(0, subsets, block):  # This part of the arrays fits into the processor's cache.
            for i in range(low_bits):
                step = 1 << i
                for base in range(first, first + block, 2 * step):
                    for subset in range(base, base + step):
                        after[subset] |= after[subset + step]
            for subset in range(first, first + block):
                alive[subset] += ones(after[subset])  # type: ignore[call-arg]
                dead[ones(np.uint64(subset))] |= ~after[subset]
        for t in range(count):
            for size in range(constructs + 1):
                if (dead[size] >> np.uint64(t)) & np.uint64(1):
                    least[start + t] = size
                    break


def _extreme(alive: Counts, sign: int) -> tuple[int, ...]:
    """Return the order with the lowest (``sign`` -1) or highest (1) cost."""
    costs = np.empty_like(alive)
    _path_costs(alive, sign, costs)
    left, order = alive.size - 1, []
    while left:
        members = [i for i in range(left.bit_length()) if left >> i & 1]
        last = next(i for i in members if costs[left ^ 1 << i] + alive[left ^ 1 << i] == costs[left])
        order.append(last)
        left ^= 1 << last
    return tuple(reversed(order))


@compiled
def _path_costs(alive: Array, sign: int, costs: Array) -> None:
    """Compute the cost of the best (``sign`` -1) or worst (1) order of each subset, and write it into ``costs``."""
    costs[0] = 0
    for subset in range(1, alive.size):
        best = np.int64(0)
        first = True
        rest = subset
        while rest:
            lowest = rest & -rest
            rest ^= lowest
            before = subset ^ lowest
            cost = costs[before] + alive[before]
            if first or sign * cost > sign * best:
                best = cost
                first = False
        costs[subset] = best
