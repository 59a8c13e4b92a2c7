"""Functions that explain why a hybrid-sequence costs more than its macro-sequence, by the costs of variants that follow
fewer micro-arrows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import allocating
from asc.plan.block import Block
from monitor.hybrid import HybridSequence
from monitor.sample import Sample
from monitor.statistics import Measure

Array = npt.NDArray[Any]


def by_dropping_ratio(block: Block, found: HybridSequence) -> HybridSequence:
    """Return the hybrid-sequence without the micro-arrows that were chosen by conditional selectivity. The micro-arrows
    chosen by dropping ratio remain.
    """
    chosen = [arrow for arrow in found.micro_arrows if arrow.measure is Measure.DROPPING_RATIO]
    return HybridSequence.of(block, found.order.sequence.tolist(), chosen)


def cost_at_own_level(block: Block, sample: Sample, hybrid: HybridSequence) -> float:
    """Return the mean cost of a tuple if tuples follow a micro-arrow only at the micro-arrow's level. The level is the
    number of constructs that the tuples had evaluated when the micro-arrow was measured.
    """
    targets = np.full((len(block.matrix), 2), -1, dtype=np.int64)
    for arrow in hybrid.micro_arrows:
        targets[block.bases[arrow.construct] + 1 + arrow.region] = arrow.target, arrow.level
    sequence = hybrid.order.sequence.astype(np.int64)
    evaluated = _walk_by_level(sample.regions, block.matrix, sample.rows(block), sequence, targets)
    return evaluated / len(sample)


@allocating
def _walk_by_level(regions: Array, matrix: Array, rows: Array, sequence: Array, targets: Array) -> int:
    words = matrix.shape[1]
    grb = np.empty(words, dtype=np.uint64)
    geb = np.empty(sequence.size, dtype=np.bool_)
    evaluated = 0
    for number in range(regions.shape[1]):
        any_left = np.uint64(0)
        for word in range(words):
            grb[word] = matrix[0, word]
            any_left |= grb[word]
        geb[:] = False
        successor = 0
        level = 0
        target = -1
        while any_left != 0:
            if target < 0 or geb[target]:
                while successor < sequence.size and geb[sequence[successor]]:
                    successor += 1
                if successor == sequence.size:
                    break
                target = sequence[successor]
            geb[target] = True
            level += 1
            row = rows[target] + regions[target, number]
            any_left = np.uint64(0)
            for word in range(words):
                grb[word] &= matrix[row, word]
                any_left |= grb[word]
            target = targets[row, 0] if targets[row, 1] == level else -1
        evaluated += level
    return evaluated
