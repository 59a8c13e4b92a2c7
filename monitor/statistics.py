"""The measures of a sequence on a sample: conditional selectivity, dropping ratio, cost (the paper's section 4.2.2)."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asc.plan.block import Block
from asc.plan.construct import Words
from asc.plan.order import Order
from monitor.errors import MonitorError
from monitor.sample import Sample
from monitor.sample_kernels import drop_by_each, walk_sample

Costs = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.int64]


class Measure(enum.Enum):
    """A measure by which the search for a sequence compares constructs."""

    CONDITIONAL_SELECTIVITY = "conditional selectivity"
    DROPPING_RATIO = "dropping ratio"


@dataclass(frozen=True, slots=True)
class Walk:
    """The counts that result from evaluating the tuples of a sample along a sequence.

    ``tuples``: the number of tuples. ``dropped``: the number of tuples whose GRB became all zeros. ``evaluated``: the
    number of constructs evaluated, summed over the tuples. ``micro_arrows`` and ``macro_arrows``: the numbers of arrows
    followed. A tuple follows one arrow to each construct that it evaluates after its first construct.
    """

    tuples: int
    dropped: int
    evaluated: int
    micro_arrows: int
    macro_arrows: int

    @property
    def cost(self) -> float:
        """The mean number of constructs evaluated per tuple."""
        return self.evaluated / self.tuples

    @property
    def dropping_ratio(self) -> float:
        return self.dropped / self.tuples

    @property
    def micro_ratio(self) -> float:
        """The share of micro-arrows among the arrows followed (xi in the paper); 0 if no arrow was followed."""
        followed = self.micro_arrows + self.macro_arrows
        return self.micro_arrows / followed if followed else 0.0


def conditional_selectivity(block: Block, sample: Sample, prefix: Sequence[int], candidate: int) -> float:
    """Return the conditional selectivity of the construct ``candidate`` after the constructs ``prefix`` (Definition 3
    and equations 1 and 2 of the paper). It is the share of evaluation instances that pass the candidate.

    An evaluation instance is a pair of a tuple and a conjunct that no construct of the prefix constrains. So the GRB of
    the tuple still has the bit of the conjunct before the candidate is evaluated. The instance passes if the bit is
    still 1 afterwards. Raise MonitorError if the prefix covers every conjunct, or if the candidate's values were not
    sampled. This is the reference for the selectivities that :class:`monitor.macro.MacroSearch` compares.
    """
    check_distinct(block, [*prefix, candidate])
    if candidate not in sample.known:
        raise MonitorError("construct", candidate, "its values were not sampled")
    uncovered = block.live & ~covered(block, prefix)
    conjuncts = int(np.bitwise_count(uncovered).sum())
    if not conjuncts:
        raise MonitorError("prefix", list(prefix), "it covers every conjunct: compare dropping ratios")
    return passed(block, sample, uncovered, candidate) / (conjuncts * len(sample))


def dropping_ratio(block: Block, sample: Sample, sequence: Sequence[int]) -> float:
    """Return the share of tuples whose GRB is all zeros after the constructs ``sequence`` (Definition 4 and equation 3
    of the paper). ``sequence`` may lack constructs of the block.

    The ratio is 0 unless the sequence contains a cover set. A construct whose values were not sampled excludes nothing.
    """
    check_distinct(block, sequence)
    by_sequence, _ = dropped_by_each(block, sample, sequence, ())
    return by_sequence / len(sample)


def walked(block: Block, sample: Sample, order: Order) -> Walk:
    """Evaluate the tuples of a sample in a block along ``order``, and return the counts. The block's current order does
    not matter.

    A construct whose values were not sampled is counted as evaluated, but excludes nothing. With such constructs,
    ``evaluated`` of the result may be too high and ``dropped`` too low, but never the reverse. Raise PlanError if the
    order does not fit the block.
    """
    costs, dropped, micro_arrows = _walked(block, sample, order)
    evaluated = int(costs.sum(dtype=np.int64))
    followed = evaluated - int(np.count_nonzero(costs))
    return Walk(len(sample), dropped, evaluated, micro_arrows, followed - micro_arrows)


def costs_of(block: Block, sample: Sample, order: Order) -> Costs:
    """Return the number of constructs that each tuple of a sample evaluates along ``order``, uint16[tuples]. The
    evaluation is that of :func:`walked`.
    """
    return _walked(block, sample, order)[0]


def covered(block: Block, constructs: Sequence[int]) -> Words:
    """Return the conjuncts that at least one of the constructs constrains, as a bitmap uint64[words]."""
    words: Words = np.bitwise_or.reduce(block.qubs[list(constructs)], axis=0)
    return words


def passed(block: Block, sample: Sample, conjuncts: Words, construct: int) -> int:
    """Return the number of evaluation instances that pass one construct. An instance is a pair of a tuple and one of
    ``conjuncts``. It passes if the construct's region of the tuple does not exclude the conjunct.
    """
    row = int(sample.rows(block)[construct])
    visitors = np.bincount(sample.regions[construct])
    visited = np.flatnonzero(visitors)
    ones = np.bitwise_count(block.matrix[row + visited] & conjuncts).sum(axis=1, dtype=np.int64)
    return int(visitors[visited] @ ones)


def dropped_by_each(
    block: Block, sample: Sample, prefix: Sequence[int], candidates: Sequence[int]
) -> tuple[int, Counts]:
    """Return the number of tuples that the constructs ``prefix`` drop, which means that the GRB is all zeros after
    them. Also return, for each candidate, the number of tuples that the prefix and this candidate together drop.
    """
    dropped = np.zeros(len(candidates), dtype=np.int64)
    places = np.array(prefix, dtype=np.int64), np.array(candidates, dtype=np.int64)
    grb = np.empty(block.matrix.shape[1], dtype=np.uint64)
    by_prefix = drop_by_each(sample.arguments(block), *places, grb, dropped)
    return by_prefix, dropped


def check_distinct(block: Block, constructs: Sequence[int]) -> None:
    """Raise MonitorError unless ``constructs`` are numbers of distinct constructs of the block."""
    if len(set(constructs)) < len(constructs) or not set(constructs) <= set(range(len(block.slots))):
        raise MonitorError("constructs", list(constructs), f"different ones out of the block's {len(block.slots)}")


def _walked(block: Block, sample: Sample, order: Order) -> tuple[Costs, int, int]:
    ordered = block.with_order(order)
    costs = np.empty(len(sample), dtype=np.uint16)
    geb = np.empty(len(block.slots), dtype=np.int64)
    grb = np.empty(block.matrix.shape[1], dtype=np.uint64)
    dropped, micro_arrows = walk_sample(sample.arguments(block), ordered.sequence, ordered.arrows, geb, grb, costs)
    return costs, dropped, micro_arrows
