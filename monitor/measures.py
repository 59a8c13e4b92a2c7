"""The measures of each construct of a sequence at its place, on a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from asc.plan.block import Block
from monitor.sample import Sample
from monitor.statistics import check_distinct, covered, dropping_ratio, passed


@dataclass(frozen=True, slots=True)
class ConstructMeasure:
    """A construct at its place in a sequence.

    ``conditional_selectivity``: the share of the conjuncts that no construct before it covers that pass it (Definition
    3); None where those before cover all, and where its values were not sampled. ``dropping_ratio``: the share of
    tuples whose GRB is all zeros after it (Definition 4).
    """

    construct: int
    conditional_selectivity: float | None
    dropping_ratio: float


def measures(block: Block, sample: Sample, sequence: Sequence[int]) -> tuple[ConstructMeasure, ...]:
    """Return each construct of a sequence of a block's; MonitorError for an empty sample and for what is no sequence.

    Cost: for each construct the sample is counted once at its place and evaluated once up to it.
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
