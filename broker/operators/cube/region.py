"""Regions of a cube's past: the closed panes that one kind of pieces holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from asc.operators.cube.cuboid import Levels
from asc.operators.cube.view import View
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.panes import ClosedPanes


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Closed pieces of one view, complete for an interval.

    ``first``, ``end``: the panes of the cube for which they are complete. None means no bound. ``is_kept``: whether
    they are the only copy, as the base pieces and bands are; otherwise the view is materialised beside them.
    """

    view: View
    closed: ClosedPanes
    first: int | None = None
    end: int | None = None
    is_kept: bool = False

    @property
    def begin(self) -> int | None:
        """Return the first pane of the cube within the region that its pieces cover. Return None if it has no piece."""
        pane = self.closed.first
        if pane is None:
            return None
        begin = pane * self.view.panes
        return begin if self.first is None else max(begin, self.first)

    def whole_panes(self, first: int, end: int) -> tuple[int, int]:
        """Return the panes of the view that lie within panes of the cube, and for which the view is complete."""
        panes = self.view.panes
        first, end = self.within(first, end)
        return -(-first // panes), end // panes

    def cells(self, first: int, end: int) -> int:
        """Return the number of cells in panes of the cube that begin and end with a pane of the view."""
        return self.closed.cells(first // self.view.panes, end // self.view.panes) if first < end else 0

    def within(self, first: int, end: int) -> tuple[int, int]:
        """Return the panes of the cube, within an interval, for which the view is complete."""
        first = first if self.first is None else max(first, self.first)
        return first, end if self.end is None else min(end, self.end)


def kept_regions(state: CubeState, open_from: int | None) -> list[Region]:
    """Return the regions of the pieces that are the only copy: bands, coarsest and oldest first, then the base pieces.

    ``open_from``: the first open pane; None if all panes are open. Invariant: each region ends where the next one
    begins.
    """
    filled = [band for band in reversed(state.bands) if band.end is not None]
    base = Region(View.base(state.definition.dimensions), state.panes.closed, end=open_from, is_kept=True)
    regions = [*(Region(band.view, band.closed, end=band.end, is_kept=True) for band in filled), base]
    bounded: list[Region] = []
    first = state.kept_from
    for region in regions:
        bounded.append(replace(region, first=first))
        # Bands that were added later may begin before the last pane that was deleted.
        first = region.end if first is None or region.end is None else max(first, region.end)
    return bounded


def kept_levels(state: CubeState) -> Levels:
    """Return the finest cuboid for which a question about all kept panes can ask. Bands that have no piece at the begin
    of the past do not count.
    """
    regions = kept_regions(state, None)
    while len(regions) > 1 and regions[0].begin is None:
        del regions[0]
    return tuple(map(min, zip(*(region.view.cuboid for region in regions), strict=True)))


def first_kept(state: CubeState) -> int | None:
    """Return the first pane of the cube that its pieces hold, also if it is open. Return None if there is no piece."""
    firsts = [own.closed.first * own.view.panes for own in kept_regions(state, None) if own.closed.first is not None]
    firsts += state.panes.open
    firsts += (piece.pane for piece in state.apart.pieces())
    first = min(firsts, default=None)
    # A pane of a band may begin before the panes that it still has.
    return first if first is None or state.kept_from is None else max(first, state.kept_from)
