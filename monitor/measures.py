"""The conditional selectivity and the dropping ratio of each construct at its position in a sequence, measured on a
sample of tuples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from asc.plan.block import Block
from monitor.sample import Sample
from monitor.statistics import check_distinct, covered, dropping_ratio, passed


@dataclass(frozen=True, slots=True)
class ConstructMeasure:
    """A construct at its position in a sequence, with its measures.

    ``conditional_selectivity`` (Definition 3 of the paper): among the conjuncts that no earlier construct constrains,
    the share that the construct does not exclude, averaged over the tuples. It is None if the earlier constructs
    constrain all conjuncts, or if the construct's values were not sampled. ``dropping_ratio`` (Definition 4 of the
    paper): the share of tuples whose GRB is all zeros after the construct.
    """

    construct: int
    conditional_selectivity: float | None
    dropping_ratio: float


def measures(block: Block, sample: Sample, sequence: Sequence[int]) -> tuple[ConstructMeasure, ...]:
    """Return the measures of each construct of a block's sequence.

    Raise MonitorError for an empty sample and for an invalid sequence. Cost: for each construct, a pass over the tuples
    at this construct, and an evaluation of the tuples from the first construct to this one.
    """
    check_distinct(block, sequence)
    return tuple(_measure(block, sample, sequence, place) for place in range(len(sequence)))


def _measure(block: Block, sample: Sample, sequence: Sequence[int], place: int) -> ConstructMeasure:
    construct, prefix = sequence[place], sequence[:place]
    selectivity = None
    uncovered = block.live & ~covered(block, prefix)
    if construct in sample.known and uncovered.any():
        instances = int(np.bitwise_count(uncovered).sum()) * len(sample)
        selectivity = passed(block, sample, uncovered, construct) / instances
    return ConstructMeasure(construct, selectivity, dropping_ratio(block, sample, sequence[: place + 1]))
