"""Local search for a sequence with a lower cost: each step moves one construct to the position at which the tuples of a
sample evaluate the fewest constructs.
"""

from __future__ import annotations

from collections.abc import Sequence

from asc.plan.block import Block
from monitor.sample import Sample
from monitor.statistics import walked

WORK = 1 << 27
"""The approximate number of words that one search may read. Reading them takes a tenth of a second."""

_PASSES = 3
_FEWEST = 100


def moved(
    block: Block, sample: Sample, start: Sequence[int], *, raises: bool = False, work: int | None = WORK
) -> tuple[int, ...]:
    """Move single constructs of the sequence ``start`` until no move makes the sequence cheaper on the sample. Return
    the resulting sequence. With ``raises``, each move instead makes the sequence more expensive.

    The greedy search of the paper's section 4.2 never revises a choice. This search removes about half of the cost that
    the greedy sequence has beyond the best fixed sequence. A pass considers one construct after the other: it tries
    every position of the construct, and moves the construct to the best one. The search ends when a pass moves no
    construct, or when the tries of the next construct would exceed ``work`` words in total. A block may be so wide that
    ``work`` does not allow two passes over the sample. Then only the first tuples are used, at least a hundred, and the
    cost on these tuples never rises. Cost: each try evaluates the tuples once; a pass has n^2 tries for n constructs of
    the block. Raise MonitorError for a sample without tuples. Raise PlanError for a sequence that is no permutation of
    the constructs.
    """
    sign = -1 if raises else 1
    order = tuple(start)
    words = block.matrix.shape[1]
    cost = walked(block, sample, block.order_of(order)).evaluated
    if work is not None and cost:
        share = work / (_PASSES * words * cost * len(order) ** 2)
        sample = sample.first(max(_FEWEST, int(share * len(sample))))
        cost = walked(block, sample, block.order_of(order)).evaluated
    read, improved = 0, True
    while improved:
        improved = False
        for construct in start:
            if work is not None and read + len(order) * cost * words > work:
                return order
            rest = tuple(own for own in order if own != construct)
            for place in range(len(order)):
                candidate = (*rest[:place], construct, *rest[place:])
                found = walked(block, sample, block.order_of(candidate)).evaluated
                read += found * words
                if sign * found < sign * cost:
                    order, cost, improved = candidate, found, True
    return order
