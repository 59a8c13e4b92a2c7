"""Local search: one construct at a time to the place in a sequence where the sample costs least."""

from __future__ import annotations

from collections.abc import Sequence

from asc.plan.block import Block
from monitor.sample import Sample
from monitor.statistics import walked

WORK = 1 << 27
"""Words that one search may read about, before it is content: a tenth of a second."""

_PASSES = 3
_FEWEST = 100


def moved(
    block: Block, sample: Sample, start: Sequence[int], *, raises: bool = False, work: int | None = WORK
) -> tuple[int, ...]:
    """Return a sequence in which no construct can be moved to another place so that the sample costs less (``raises``:
    more).

    The greedy search of section 4.2 never takes back what it chose; this takes off about half of what it costs
    beyond the best fixed sequence. Each pass tries every place of each construct and takes the best one. It ends where
    a pass has found nothing, or where the next construct's tries would read more than ``work`` words in all. Of a block
    so wide that the sample would allow no two passes the first tuples alone are walked, a hundred at least: on them the
    cost never rises. Cost: a walk of those tuples a try, n^2 of them a pass. Raises MonitorError for a sample without
    tuples, PlanError for a sequence that is no permutation of the constructs.
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
