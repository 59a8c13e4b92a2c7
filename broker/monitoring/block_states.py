"""The monitor's state of each block: the initial figures of its current sequence, and the trigger of a new search."""

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
    """The state of one block, which is identified by its array ``matrix``.

    The array is the same object as long as the block's conjuncts do not change, whatever its sequence and number.
    ``cause``: the trigger of a search for another sequence, until the search has ended. ``search``: the running search
    for a macro-sequence, which determines one construct in each period. ``measured``: the measures of each construct of
    the current sequence, on the sample on which the sequence was found.
    """

    matrix: Words
    adaptation: Adaptation
    cause: Cause | None = None
    search: MacroSearch | None = None
    measured: tuple[ConstructMeasure, ...] = ()

    @property
    def figures(self) -> Figures | None:
        """Return the initial figures of the current sequence. Return None if they were not measured."""
        return self.adaptation.before

    def count(self, tuples: int, dropped: int, evaluated: int, thresholds: Thresholds) -> None:
        """Add a batch's counts to the counts since the last check. If enough tuples are counted, check whether the
        dropping ratio or the cost triggers a search (section 5.2 of the paper).
        """
        self.adaptation.thresholds = thresholds
        cause = self.adaptation.count(tuples, dropped, evaluated)
        # Keep the first cause: it triggered the search that is under way, and later ones trigger nothing.
        self.cause = self.cause or cause

    def put_in_place(self, figures: Figures | None, measured: tuple[ConstructMeasure, ...] = ()) -> None:
        """Note that a search has ended, and its sequence is in place. ``figures``: the initial figures (dropping ratio
        and cost) of the sequence, or None if they are unknown.
        """
        self.measured = measured
        self.adaptation.put_in_place(figures)
        self.cause = self.search = None


class BlockStates:
    """The states of all blocks of the running plan, in the order of its blocks.

    Invariant: there is one state for each block of the last followed plan. A block whose queries changed is a new
    block: its figures are unknown, and it is measured as soon as there is a sample. Cost: a few numbers for each block.
    """

    def __init__(self) -> None:
        self._states: tuple[BlockState, ...] = ()
        self._has_followed = False

    def __iter__(self) -> Iterator[BlockState]:
        return iter(self._states)

    @property
    def is_measured(self) -> bool:
        """Return True if no block waits for its first measurement or for another sequence. Before the first plan,
        return False.
        """
        waiting = (state for state in self._states if state.figures is None or state.cause is not None)
        return self._has_followed and next(waiting, None) is None

    @property
    def is_searching(self) -> bool:
        return any(state.search is not None for state in self._states)

    def follow(self, plan: Plan, settings: MonitorConfig) -> None:
        """Adopt the blocks of a plan, and keep the states of unchanged blocks."""
        self._has_followed = True
        if len(self._states) == len(plan.blocks) and all(
            state.matrix is block.matrix for state, block in zip(self._states, plan.blocks, strict=True)
        ):
            return
        known = {id(state.matrix): state for state in self._states}
        self._states = tuple(known.get(id(block.matrix)) or _unknown(block, settings) for block in plan.blocks)

    def count(self, tally: Tally, settings: MonitorConfig) -> None:
        """Add the counts of a batch of the last followed plan, and check each block that has seen enough tuples.

        Enough tuples are ``lambda_tuples`` of the settings. For a block that was not measured yet, ``sample_tuples``
        are enough if they are fewer.
        """
        for number, state in enumerate(self._states):
            dropped, evaluated = int(tally.dropped[number]), int(tally.evaluated[number])
            state.count(tally.tuples, dropped, evaluated, _thresholds(settings, measured=state.figures is not None))

    def due(self) -> list[tuple[int, BlockState]]:
        """Return the blocks for which a search was triggered, with their numbers."""
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
