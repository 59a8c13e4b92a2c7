"""The choice of the views of a cube from its demand, and the estimate of the cells of views that are not stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from asc.operators.cube.cell_sample import SAMPLE_CELLS, CellSample, days_to_read, drawn
from asc.operators.cube.cells import Cells
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.layout import Layout
from asc.operators.cube.optimiser import Budget, propose, views_within
from asc.operators.cube.proposal import Proposal
from asc.operators.cube.view_costs import ViewCosts
from asc.operators.cube.view_estimate import Pause, ViewEstimate, unpaused
from broker.errors import CubeStoreError, QueryError
from broker.operators.cube.batch_time import first_open
from broker.operators.cube.cube_state import CubeId, CubeState
from broker.operators.cube.demands import Demands
from broker.operators.cube.held_cells import held_cells
from broker.operators.cube.lattice_rows import lattice_rows
from broker.operators.cube.panes import sound
from broker.operators.cube.snapshot import Snapshot
from broker.operators.cube.view_filling import ViewFilling

_READ_CELLS = 20 * SAMPLE_CELLS
"""The most cells of the days from which a sample is drawn. If the days have more cells, fewer days are read, but at
least one.
"""
_READ_PIECES = 1_000
"""The most pieces of these days, with the same rule."""
_THINNED_CELLS = 10 * SAMPLE_CELLS
"""The most cells that are in memory when a sample is drawn, without those of the piece that is being read."""


class ViewChoice:
    """The optimiser of the stored views of a keeper's cubes. Thread-safe; the keeper is locked only while views are
    added or removed.

    A sample is read day by day, each from the newest snapshot. So a caller that sleeps in ``pause`` does not keep an
    old snapshot, with its replaced cells, in memory for long.
    """

    def __init__(self, snapshot: Callable[[], Snapshot], demands: Demands, filling: ViewFilling) -> None:
        """Set the functions and objects of the keeper. ``snapshot`` returns the newest snapshot."""
        self._snapshot = snapshot
        self._demands = demands
        self._filling = filling
        self._budgets: dict[CubeId, Budget] = {}

    def estimate(self, cube: CubeId, pause: Pause = unpaused) -> ViewEstimate:
        """Return an estimate of the cells of views, from a sample of the base cells of closed panes.

        ``pause`` is called between the pieces, and may sleep or raise. Raise QueryError if the cube is parked, and
        DamagedPieceError if a piece is damaged. Cost: the base pieces of at most eight days.
        """
        snapshot = self._snapshot()
        state, _ = sound_cube(snapshot, cube)
        lattice = self._demands.lattice(state)
        open_from = first_open(snapshot.marks.get(state.time), snapshot.lateness_us, state.grain_us)
        days, first = _days(state, open_from, lattice), state.panes.closed.first
        extents = [] if first is None or open_from is None else [_within(day, first, open_from) for day in days]
        del snapshot
        population = sum(state.panes.closed.cells(*day) for day in days)
        share = min(1.0, _THINNED_CELLS / max(1, population))
        parts: list[Cells] = []
        for day in days:
            for cells in self._thinned(cube, day, share):
                parts.append(cells)
                pause()
        sample = CellSample.of(parts, lattice.panes_a_day)
        if share < 1:
            # The sample is drawn from thinned cells. Each cell has the same probability, so only the population must be
            # corrected.
            sample = replace(sample, population=round(sample.population / share), days=sample.days or len(days))
        return ViewEstimate(lattice, sample, extents)

    def propose(self, cube: CubeId, budget: Budget, pause: Pause = unpaused) -> Proposal:
        """Return a proposal of the views to store for the current demand and the budget of a cube. ``pause`` and the
        errors: as in :meth:`estimate`.
        """
        estimate = self.estimate(cube, pause)
        snapshot = self._snapshot()
        state, _ = sound_cube(snapshot, cube)
        asked = self._demands.of(state).panes_an_hour(at_s=self._demands.now_s)
        held = held_cells(state, estimate)
        pins = [view.view for view in state.views if view.role == "pinned"]
        del snapshot, state
        return propose(estimate, asked, held, pins=pins, budget=budget, pause=pause)

    def apply(self, cube: CubeId, proposal: Proposal) -> None:
        """Store the views of a proposal. New ones are filled later. Raise CubeStoreError.

        If :meth:`limit` has lowered the budget after the proposal, remove the views that exceed the new budget.
        """
        self._filling.choose(cube, proposal.views)
        if (budget := self._budgets.get(cube)) is not None:
            self._shrink(cube, budget)

    def limit(self, cube: CubeId, budget: Budget) -> None:
        """Set the budget of a cube's definition, and remove the chosen views that exceed it. Raise CubeStoreError.

        Do nothing if the budget equals that of the last call. If views exceed the budget because they grow with new
        panes, only the optimiser removes them, not this method.
        """
        if self._budgets.get(cube) == budget:
            return
        cubes = self._snapshot().cubes
        self._budgets = {**{own: held for own, held in self._budgets.items() if own in cubes}, cube: budget}
        try:
            self._shrink(cube, budget)
        except CubeStoreError:
            # Forget the budget, so that the next call tries to remove the views again.
            del self._budgets[cube]
            raise

    def _shrink(self, cube: CubeId, budget: Budget) -> None:
        state = self._snapshot().cubes.get(cube)
        if state is None or state.layout is None:
            return
        views = state.views
        if len(views) <= budget.views and state.view_cells <= budget.cells:
            return
        lattice, held = self._demands.lattice(state), held_cells(state, None)
        cells = np.array([held.base, *(held.views[own.view] for own in views)], dtype=np.float64)
        asked = self._demands.of(state).panes_an_hour(at_s=self._demands.now_s)
        stored = [lattice.base, *(own.view for own in views)]
        costs = ViewCosts.of(lattice, stored, cells, held.panes, asked, bands=held.bands)
        pins = [place for place, own in enumerate(views, 1) if own.role == "pinned"]
        kept = views_within(costs, range(1, len(views) + 1), pins, budget)
        self._filling.choose(cube, [costs.views[place] for place in kept])

    def lattice(self, cube: CubeId, pause: Pause = unpaused) -> dict[str, Any]:
        """Return the lattice of a cube in the form of the API. ``pause`` and the errors: as in :meth:`estimate`."""
        estimate = self.estimate(cube, pause)
        snapshot = self._snapshot()
        state, _ = sound_cube(snapshot, cube)
        asked = self._demands.of(state).questions_an_hour(at_s=self._demands.now_s)
        open_from = first_open(snapshot.marks.get(state.time), snapshot.lateness_us, state.grain_us)
        rows = lattice_rows(state, estimate, asked, open_from, pause)
        return {"id": cube.query, "commit": snapshot.commit, "views": rows, "count": estimate.lattice.count}

    def _thinned(self, cube: CubeId, day: tuple[int, int], share: float) -> Iterator[Cells]:
        """Yield cells of the closed base panes of a day, without states: all cells, or a share of them."""
        snapshot = self._snapshot()
        state, layout = sound_cube(snapshot, cube)
        seen = 0
        for run in state.panes.closed.runs(*day):
            for piece in (piece for pieces in run for piece in sound(pieces) if day[0] <= piece.pane < day[1]):
                most = int((seen + piece.cells) * share) - int(seen * share)
                seen += piece.cells
                if most:
                    cells = replace(snapshot.cells(layout, piece, is_kept=False), states=())
                    yield cells.take(np.sort(drawn(cells.count, most, piece.pane))) if share < 1 else cells


def sound_cube(snapshot: Snapshot, cube: CubeId) -> tuple[CubeState, Layout]:
    """Return a cube and its layout. Raise QueryError if its pieces no longer fit the records of the stream."""
    state = snapshot.cube(cube)
    if state.layout is None:
        raise QueryError("cube", cube.query, f"is parked, {state.parked}")
    return state, state.layout


def _days(state: CubeState, open_from: int | None, lattice: Lattice) -> list[tuple[int, int]]:
    """Return the days whose base pieces are read for a sample, each as its first pane and the pane after its last."""
    closed = state.panes.closed
    if closed.first is None or open_from is None:
        return []
    days = days_to_read(closed.first, open_from, lattice.panes_a_day)
    # Skip days without records, such as those in a jump of event time.
    days = [day for day in days if closed.cells(*day)] or [_day_of(closed.first, lattice.panes_a_day)]
    while len(days) > 1 and (
        sum(closed.cells(*day) for day in days) > _READ_CELLS or len(days) * lattice.panes_a_day > _READ_PIECES
    ):
        days = days[::2]
    return days


def _within(day: tuple[int, int], first: int, end: int) -> tuple[int, int]:
    return max(day[0], first), min(day[1], end)


def _day_of(pane: int, panes_a_day: int) -> tuple[int, int]:
    first = pane - pane % panes_a_day
    return first, first + panes_a_day
