"""The search for a macro-sequence: the greedy search of the paper's section 4.2, which appends one construct in each
step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asc.plan.block import Block, static_sequence
from asc.plan.construct import Words
from monitor.errors import MonitorError
from monitor.sample import Sample
from monitor.statistics import Measure, covered, dropped_by_each, passed


@dataclass(frozen=True, slots=True)
class MacroStep:
    """A step of the search for a macro-sequence: the appended construct, the measure that was compared, and its value
    for this construct. ``others``: the other constructs that could have been appended, each with its value.

    ``measure`` is None if no candidates were compared: for the last remaining construct, and for constructs whose
    values were not sampled.
    """

    construct: int
    measure: Measure | None = None
    value: float | None = None
    others: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class MacroSequence:
    """All constructs of a block in the order found, each with the step that appended it."""

    steps: tuple[MacroStep, ...]

    @property
    def sequence(self) -> tuple[int, ...]:
        return tuple(step.construct for step in self.steps)


class MacroSearch:
    """The search for a macro-sequence. Each step appends one construct, and measures the candidates on the sample
    passed to this step.

    While the appended constructs do not cover all conjuncts, the construct of lowest conditional selectivity is
    appended. Among equals, it is the construct that constrains the most conjuncts not yet covered, then the first in
    the order of p-attributes. As soon as the appended constructs cover all conjuncts, the construct of highest dropping
    ratio is appended. Among equals, it is the construct that had the lowest selectivity in the first step, then the
    first in the order of p-attributes.

    A construct whose values were not sampled in some step is no longer measured, and comes at the end, in static order.
    "All conjuncts" are then the conjuncts that the other constructs together cover, because these constructs cover no
    more in any order. The last remaining construct needs no step, because there is no choice. So n constructs take n -
    1 steps.

    Invariant: every construct of the block is appended, open (a candidate for the next step), or no longer measured.
    Cost: a step measures each open construct once; O(n^2) measurements in all for n constructs (equation 4 of the
    paper).
    """

    def __init__(self, block: Block) -> None:
        self._block = block
        self._open = list(range(len(block.slots)))
        self._steps: list[MacroStep] = []
        self._single: dict[int, int] = {}
        self._finish_if_decided()

    @property
    def done(self) -> bool:
        return len(self._steps) == len(self._block.slots)

    def step(self, sample: Sample) -> None:
        """Append the open construct whose measure on a sample is the best."""
        if self.done:
            raise MonitorError("steps of the search", len(self._steps), "the sequence is complete")
        sample.rows(self._block)
        self._open = [construct for construct in self._open if construct in sample.known]
        if len(self._open) > 1:
            self._append(self._best(sample))
        self._finish_if_decided()

    def result(self) -> MacroSequence:
        """Return the sequence found. Raise MonitorError if the search is not finished."""
        if not self.done:
            raise MonitorError("constructs in sequence", len(self._steps), f"{len(self._block.slots)} are needed")
        return MacroSequence(tuple(self._steps))

    def _best(self, sample: Sample) -> MacroStep:
        live = self._block.live
        if not self._steps:
            self._single = {construct: passed(self._block, sample, live, construct) for construct in self._open}
        prefix = [step.construct for step in self._steps]
        missing = live & ~covered(self._block, prefix)
        if (missing & covered(self._block, self._open)).any():
            return self._by_selectivity(sample, missing)
        return self._by_dropping_ratio(sample, prefix)

    def _by_selectivity(self, sample: Sample, missing: Words) -> MacroStep:
        counts = {construct: passed(self._block, sample, missing, construct) for construct in self._open}
        gains = {construct: _ones(self._block.qubs[construct] & missing) for construct in self._open}
        best = min(self._open, key=lambda own: (counts[own], -gains[own], self._block.slots[own]))
        instances = _ones(missing) * len(sample)
        return _step(best, Measure.CONDITIONAL_SELECTIVITY, counts, instances)

    def _by_dropping_ratio(self, sample: Sample, prefix: list[int]) -> MacroStep:
        _, dropped = dropped_by_each(self._block, sample, prefix, self._open)
        counts = dict(zip(self._open, dropped.tolist(), strict=True))
        best = min(self._open, key=lambda own: (-counts[own], self._single[own], self._block.slots[own]))
        return _step(best, Measure.DROPPING_RATIO, counts, len(sample))

    def _append(self, step: MacroStep) -> None:
        self._steps.append(step)
        self._open.remove(step.construct)

    def _finish_if_decided(self) -> None:
        if len(self._open) > 1:
            return
        for construct in tuple(self._open):
            self._append(MacroStep(construct))
        found = {step.construct for step in self._steps}
        rest = [construct for construct in static_sequence(self._block) if construct not in found]
        self._steps += [MacroStep(construct) for construct in rest]


def macro_sequence(block: Block, sample: Sample) -> MacroSequence:
    """Search for the macro-sequence of a block, and return it. All steps of the search use the same sample."""
    search = MacroSearch(block)
    while not search.done:
        search.step(sample)
    return search.result()


def _step(best: int, measure: Measure, counts: dict[int, int], of: int) -> MacroStep:
    others = tuple((construct, count / of) for construct, count in counts.items() if construct != best)
    return MacroStep(best, measure, counts[best] / of, others)


def _ones(words: Words) -> int:
    return int(np.bitwise_count(words).sum())
