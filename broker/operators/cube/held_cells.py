"""The cells that a cube and its stored views have, as the optimiser compares them."""

from __future__ import annotations

from dataclasses import dataclass

from asc.operators.cube.view import View
from asc.operators.cube.view_estimate import ViewEstimate
from broker.operators.cube.cube_state import CubeState


@dataclass(frozen=True, slots=True)
class HeldCells:
    """The cells that a cube holds, and those of its views. ``base``: the cells of closed panes, of bands too.

    ``panes``: the panes of the cube from the first kept one to the last closed one. ``views``: the cells of each view
    beside it, estimated for one that is not filled yet.
    """

    base: int
    panes: int
    views: dict[View, float]


def held_cells(state: CubeState, estimate: ViewEstimate | None) -> HeldCells:
    """Return the cells that a cube and its views have. Without an estimate, a view that is not filled yet has those of
    the base view.
    """
    opened = sum(piece.cells for pieces in state.panes.open.values() for piece in pieces)
    base = state.panes.cells - opened + sum(band.panes.cells for band in state.bands)
    firsts = [own.closed.first * own.view.panes for own in state.bands if own.closed.first is not None]
    firsts += [] if state.panes.closed.first is None else [state.panes.closed.first]
    last = max(state.panes.closed, default=None)
    ends = [own.end for own in state.bands if own.end is not None] + ([] if last is None else [last + 1])
    panes = max(ends) - min(firsts) if firsts and ends else 0
    share = 1.0 if estimate is None else base / max(1, estimate.sample.population)
    views = {}
    for own in state.views:
        if own.filled_to is not None:
            views[own.view] = float(own.panes.cells)
        else:
            views[own.view] = float(base) if estimate is None else estimate.cells(own.view) * share
    return HeldCells(base, max(0, panes), views)
