"""The state of each block's sequence: the figures it began with, counts since, and the cause to find another one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from asc.plan.block import Block
from asc.plan.construct import Words
from asc.plan.plan import Plan
from broker.config.sections import MonitorConfig
from broker.matching.tally import Tally
from monitor.adaptation import Adaptation, Cause, Figures, Thresholds
from monitor.macro import MacroSearch
from monitor.measures import ConstructMeasure


@dataclass(slots=True, eq=False)
class BlockState:
    """The state of one block, which is identified by its ``matrix``.

    That stays the same array as long as the conjuncts do, whatever the block's sequence and number.

    ``cause``: what calls for another sequence, until one is in place. ``search``: a macro-sequence that is being found
    a construct a period. ``measured``: each construct of the sequence in place, when that was found.
    """

    matrix: Words
    adaptation: Adaptation
    cause: Cause | None = None
    search: MacroSearch | None = None
    measured: tuple[ConstructMeasure, ...] = ()

    @property
    def figures(self) -> Figures | None:
        """The figures with which the sequence in place began; None while nothing was measured of it."""
        return self.adaptation.before

    def count(self, tuples: int, dropped: int, evaluated: int, thresholds: Thresholds) -> None:
        """Apply the rule of section 5.2 to a batch's counts, with those since its last look."""
        self.adaptation.thresholds = thresholds
        cause = self.adaptation.count(tuples, dropped, evaluated)
        # What called first is what is told; nothing can call for what is being looked for already.
        self.cause = self.cause or cause

    def put_in_place(self, figures: Figures | None, measured: tuple[ConstructMeasure, ...] = ()) -> None:
        """Note that another sequence is in place, with the figures known of it."""
        self.measured = measured
        self.adaptation.put_in_place(figures)
        self.cause = self.search = None


class BlockStates:
    """The states of all blocks of the plan that runs, in the order of its blocks.

    Invariant: one state for each block of the plan last followed. A block that has changed (queries came or went) is
    another block: nothing is known of it, and it is measured as soon as there is a sample. Cost: a few numbers a block.
    """

    def __init__(self) -> None:
        self._states: tuple[BlockState, ...] = ()
        self._has_followed = False

    def __iter__(self) -> Iterator[BlockState]:
        return iter(self._states)

    @property
    def is_measured(self) -> bool:
        """Whether no block waits for a first or another sequence; before any plan was followed they all do."""
        waiting = (state for state in self._states if state.figures is None or state.cause is not None)
        return self._has_followed and next(waiting, None) is None

    @property
    def is_searching(self) -> bool:
        return any(state.search is not None for state in self._states)

    def follow(self, plan: Plan, settings: MonitorConfig) -> None:
        """Make the states those of a plan's blocks."""
        self._has_followed = True
        if len(self._states) == len(plan.blocks) and all(
            state.matrix is block.matrix for state, block in zip(self._states, plan.blocks, strict=True)
        ):
            return
        known = {id(state.matrix): state for state in self._states}
        self._states = tuple(known.get(id(block.matrix)) or _unknown(block, settings) for block in plan.blocks)

    def count(self, tally: Tally, settings: MonitorConfig) -> None:
        """Add the counts of a batch that ran by the plan last followed, and look at each block that has seen enough.

        Enough are lambda tuples, and where nothing was measured as many as a sample has.
        """
        for number, state in enumerate(self._states):
            dropped, evaluated = int(tally.dropped[number]), int(tally.evaluated[number])
            state.count(tally.tuples, dropped, evaluated, _thresholds(settings, measured=state.figures is not None))

    def due(self) -> list[tuple[int, BlockState]]:
        """Return the blocks that something calls for another sequence of, with their numbers."""
        return [(number, state) for number, state in enumerate(self._states) if state.cause is not None]


def _unknown(block: Block, settings: MonitorConfig) -> BlockState:
    return BlockState(block.matrix, Adaptation(_thresholds(settings, measured=False)))


def _thresholds(settings: MonitorConfig, *, measured: bool) -> Thresholds:
    return Thresholds(
        settings.lambda_tuples if measured else min(settings.lambda_tuples, settings.sample_tuples),
        settings.mu,
        dropping_trigger="dropping_ratio" in settings.triggers,
        cost_trigger="cost" in settings.triggers,
    )
