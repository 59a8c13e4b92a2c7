"""Refinement of a hybrid-sequence: only the micro-arrows that lower the number of constructs evaluated are
retained.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from asc.frozen import frozen
from asc.plan.block import Block
from monitor.hybrid import HybridSequence, MicroArrow
from monitor.sample import Sample
from monitor.sample_kernels import walk_sample
from monitor.statistics import costs_of

Places = npt.NDArray[np.intp]


def refined(block: Block, sample: Sample, hybrid: HybridSequence) -> HybridSequence:
    """Return the hybrid-sequence with only the micro-arrows that lower its cost: the number of constructs that the
    tuples of the sample evaluate.

    The measures of the paper's section 4.3 consider only the next step, on the tuples of one level. But the effect of a
    micro-arrow on the cost depends on all later steps, and on the tuples that reach its region along other paths. So
    each micro-arrow is tried, in the order found, together with the micro-arrows retained so far. A micro-arrow is
    retained if it lowers the cost of the tuples that visit its region.

    So the cost of the result is at most the cost of the macro-sequence. Cost: a micro-arrow changes only the cost of
    tuples in its region, so all tries together evaluate the sample once for each construct. Raise MonitorError for a
    sample without tuples.
    """
    macro = block.order_of(hybrid.order.sequence.tolist())
    arguments = sample.arguments(block)
    table = np.full(len(block.matrix), -1, dtype=np.int32)
    # Read-only like every other table of micro-arrows: numba would compile the kernels again for a writable array.
    arrows = table.view()
    arrows.flags.writeable = False
    geb = np.empty(len(block.slots), dtype=np.int64)
    grb = np.empty(block.matrix.shape[1], dtype=np.uint64)
    members = _by_region(sample, hybrid)
    costs = costs_of(block, sample, macro)
    kept: list[MicroArrow] = []
    for arrow in hybrid.micro_arrows:
        place = int(block.bases[arrow.construct]) + 1 + arrow.region
        visitors = members[arrow.construct, arrow.region]
        table[place] = arrow.target
        tried = np.empty(len(visitors), dtype=np.uint16)
        regions = frozen(np.ascontiguousarray(sample.regions[:, visitors]))
        walk_sample(arguments._replace(regions=regions), macro.sequence, arrows, geb, grb, tried)
        if tried.sum(dtype=np.int64) < costs[visitors].sum(dtype=np.int64):
            costs[visitors] = tried
            kept.append(arrow)
        else:
            table[place] = -1
    return HybridSequence.of(block, macro.sequence.tolist(), kept)


def _by_region(sample: Sample, hybrid: HybridSequence) -> dict[tuple[int, int], Places]:
    """Return, for each (construct, region) that has a micro-arrow, the numbers of the tuples that visit the region."""
    members = {}
    for construct in {arrow.construct for arrow in hybrid.micro_arrows}:
        order = np.argsort(sample.regions[construct], kind="stable")
        regions = sample.regions[construct][order]
        for region in {arrow.region for arrow in hybrid.micro_arrows if arrow.construct == construct}:
            first, last = np.searchsorted(regions, [region, region + 1])
            members[construct, region] = order[first:last]
    return members
