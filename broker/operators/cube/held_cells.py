"""The numbers of cells of a cube and its stored views, which the optimiser compares to choose views."""

from __future__ import annotations

from dataclasses import replace

from asc.operators.cube.kept_cells import KeptBand
from asc.operators.cube.optimiser import StoredCells
from asc.operators.cube.view_estimate import ViewEstimate
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.region import Region, kept_regions


def held_cells(state: CubeState, estimate: ViewEstimate | None) -> StoredCells:
    """Return the number of cells that a cube keeps of closed panes, in base pieces and bands, and the number of cells
    of each view.

    The cells of a view that is not filled yet are estimated. If ``estimate`` is None, such a view counts as many cells
    as the kept pieces have in the same panes.
    """
    last = max(state.panes.closed, default=None)
    *bands, base = kept_regions(state, None if last is None else last + 1)
    older = tuple(KeptBand(region.view, *_cells_and_panes(region)) for region in reversed(bands))
    held = StoredCells(*_cells_and_panes(base), {}, older)
    views = {}
    for own in state.views:
        if own.filled_to is not None:
            views[own.view] = float(own.panes.cells)
        else:
            share = 1.0 if estimate is None else estimate.cells(own.view) / max(1, estimate.sample.population)
            views[own.view] = held.kept.estimated(own.view, share)
    return replace(held, views=views)


def _cells_and_panes(region: Region) -> tuple[int, int]:
    """Return the number of cells of a region, and the number of panes of the cube from its first piece to its end."""
    first, end = region.begin, region.end
    if first is None or end is None or first >= end:
        return 0, 0
    return region.cells(first, end), end - first
