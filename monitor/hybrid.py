"""The hybrid-sequence: micro-arrows found by evaluating a sample along a macro-sequence (section 4.3 of the paper)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asc.plan.block import Block
from asc.plan.order import Order
from monitor.errors import MonitorError
from monitor.sample import Sample
from monitor.sample_kernels import GroupArrays, LevelArrays, follow, measure, narrow, visit
from monitor.statistics import Measure

MIN_VISITORS = 30
"""The least number of tuples that must visit a region so that a measurement of the region is meaningful."""


@dataclass(frozen=True, slots=True)
class MicroArrow:
    """A micro-arrow from a region of a construct to the construct ``target``, with its measurements.

    ``level``: the number of constructs that the measured tuples had evaluated, including ``construct``. ``visitors``:
    the number of tuples measured. ``value``: the value of ``measure`` for the target. ``macro_value``: its value for
    the next constructs of these tuples along the macro-sequence.
    """

    construct: int
    region: int
    target: int
    level: int
    visitors: int
    measure: Measure
    value: float
    macro_value: float


@dataclass(frozen=True, slots=True, eq=False)
class HybridSequence:
    """A macro-sequence with micro-arrows. ``micro_arrows`` has the micro-arrows with their measurements, in the order
    in which they were found.

    ``order``: the order of the block that results from the macro-sequence and the micro-arrows.
    """

    order: Order
    micro_arrows: tuple[MicroArrow, ...]

    @staticmethod
    def of(block: Block, sequence: Sequence[int], micro_arrows: Sequence[MicroArrow]) -> HybridSequence:
        """Return the hybrid-sequence that has the macro-sequence ``sequence`` and the micro-arrows. Raise PlanError if
        the macro-sequence or a micro-arrow does not fit the block.
        """
        arrows = ((arrow.construct, arrow.region, arrow.target) for arrow in micro_arrows)
        return HybridSequence(block.order_of(sequence, arrows), tuple(micro_arrows))


def hybrid_sequence(
    block: Block, sample: Sample, sequence: Sequence[int], min_visitors: int = MIN_VISITORS
) -> HybridSequence:
    """Find micro-arrows for a macro-sequence of the block, and return the resulting hybrid-sequence. One sample is used
    for all levels.

    The tuples of the sample are evaluated level by level. A tuple is live as long as its GRB is not zero. A level
    evaluates one construct for every live tuple. It then groups the tuples that are still live by the region just
    visited. The NULL region is treated like any other region. These rules apply to a group of at least ``min_visitors``
    tuples whose region has no micro-arrow yet:

    - Candidates are the constructs in the region's cab that no tuple of the group has evaluated and whose values were
      sampled. The cab does not depend on the GRB.
    - If every tuple of the group has evaluated a cover set, dropping ratios are compared, otherwise conditional
      selectivities. A conditional selectivity is the number of conjuncts left after the construct, divided by the
      number before it. Both numbers are summed over the tuples of the group. So a tuple with more conjuncts before the
      construct has a larger weight.
    - The macro successor of a tuple is the first construct of the macro-sequence that the tuple has not evaluated. One
      value is computed for the macro successors of a group: each tuple is counted at its macro successor.
    - The best candidate (among equals, the first in the macro-sequence) becomes the target of the region's micro-arrow
      if its value is strictly better than the value of the macro successors. Otherwise the region may get a micro-arrow
      at a later level.

    Then every tuple follows the micro-arrow of its region, whether found at this level or earlier. A tuple follows the
    macro-sequence if its region has no micro-arrow, or if the tuple has already evaluated the target. A construct whose
    values were not sampled excludes nothing, and its regions get no arrow.

    Cost: at most O(levels * live tuples * candidates * words of the GRB); 16 * words bytes per tuple. Raise
    MonitorError for a sample without tuples and for ``min_visitors`` below 1. Raise PlanError for a sequence that is no
    permutation of the constructs.
    """
    if min_visitors < 1:
        raise MonitorError("least number of visitors", min_visitors, "at least 1")
    descent = _Descent(block, sample, sequence)
    micro_arrows: list[MicroArrow] = []
    for level in range(1, len(block.slots) + 1):
        if not descent.visit():
            break
        micro_arrows += descent.decide(level, min_visitors)
        descent.follow()
    return HybridSequence.of(block, sequence, micro_arrows)


class _Descent:
    """The state of a search for micro-arrows at one level (:func:`hybrid_sequence`): the next construct and the GRB of
    each tuple of the sample, and the micro-arrows found so far.
    """

    def __init__(self, block: Block, sample: Sample, sequence: Sequence[int]) -> None:
        self.block = block
        self.known = sample.known
        self.sample = sample.arguments(block)
        self.sequence = block.order_of(sequence).sequence
        self.qubs = block.qubs
        tuples = len(sample) if block.live.any() else 0
        grb = np.tile(block.live, (tuples, 1))
        self.states = LevelArrays(
            live=np.arange(tuples, dtype=np.int64),
            targets=np.full(tuples, self.sequence[0] if len(self.sequence) else -1, dtype=np.int32),
            grb=grb,
            missing=grb.copy(),
            geb=np.zeros((tuples, len(block.slots)), dtype=np.bool_),
            places=np.zeros(tuples, dtype=np.int64),
        )
        self.arrows = np.full(len(block.matrix), -1, dtype=np.int32)

    def visit(self) -> bool:
        """Evaluate the next construct of each live tuple. Return True if the GRB of at least one tuple is not zero
        afterwards.
        """
        self._keep(visit(self.sample, self.qubs, self.states))
        return len(self.states.live) > 0

    def decide(self, level: int, min_visitors: int) -> Iterator[MicroArrow]:
        """Find the new micro-arrows of a level by the rules of :func:`hybrid_sequence`. Add each of them to the
        micro-arrows of the search, and yield it.
        """
        visitors = np.bincount(self.states.places[self.states.live], minlength=len(self.arrows))
        visitors[0] = 0  # no region: the constructs without known values are there
        regions = np.flatnonzero((visitors >= min_visitors) & (self.arrows < 0))
        if not len(regions):
            return
        groups = self._measured(regions)
        # The columns are in the order of the macro-sequence, so that among equal constructs its first one wins.
        worst = np.iinfo(np.int64).max
        in_order = np.where(groups.candidates, groups.left, worst)[:, self.sequence]
        best = in_order.argmin(axis=1)
        least = in_order[np.arange(len(regions)), best]
        for group in np.flatnonzero(least < groups.macro_left).tolist():
            row, target = int(regions[group]), int(self.sequence[best[group]])
            self.arrows[row] = target
            construct = int(np.searchsorted(self.block.bases, row, side="right")) - 1
            shares = [int(count[group]) / int(groups.targeted[group]) for count in (least, groups.macro_left)]
            if groups.covered[group]:
                kind, shares = Measure.DROPPING_RATIO, [1 - share for share in shares]
            else:
                kind = Measure.CONDITIONAL_SELECTIVITY
            region = row - int(self.block.bases[construct]) - 1
            yield MicroArrow(construct, region, target, level, int(visitors[row]), kind, shares[0], shares[1])

    def follow(self) -> None:
        """Set the next construct of every live tuple. Remove the tuples that have no next construct, because they have
        evaluated all constructs.
        """
        self._keep(follow(self.states, self.arrows, self.sequence))

    def _keep(self, live: int) -> None:
        """Keep only the first ``live`` entries in the array of live tuples."""
        self.states = self.states._replace(live=self.states.live[:live])

    def _measured(self, regions: npt.NDArray[np.intp]) -> GroupArrays:
        """Group the live tuples that visited one of the matrix rows ``regions``, and return the groups with their
        measures.
        """
        count, constructs = len(regions), len(self.qubs)
        groups = GroupArrays(
            of_row=np.full(len(self.arrows), -1, dtype=np.int64),
            candidates=np.zeros((count, constructs), dtype=np.bool_),
            covered=np.ones(count, dtype=np.bool_),
            left=np.zeros((count, constructs), dtype=np.int64),
            macro_left=np.zeros(count, dtype=np.int64),
            targeted=np.zeros(count, dtype=np.int64),
        )
        groups.of_row[regions] = np.arange(count)
        for construct in self.known:
            groups.candidates[:, construct] = (self.block.matrix[regions] & self.qubs[construct]).any(axis=1)
        narrow(self.states, groups)
        measure(self.sample, self.sequence, self.states, groups)
        return groups
