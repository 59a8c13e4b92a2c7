"""Regions of a cube: an interval of closed panes for which one view has all pieces."""

from __future__ import annotations

from dataclasses import dataclass, replace

from asc.operators.cube.cuboid import Levels
from asc.operators.cube.view import View
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.panes import ClosedPanes


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The closed pieces of one view (``closed``), and the interval of event time for which they are complete.

    ``first``, ``end``: this interval in panes of the cube, without ``end``; None means no bound. ``is_kept``: True for
    base pieces and bands, which are the only copy of their cells; False for a view that is computed from them.
    """

    view: View
    closed: ClosedPanes
    first: int | None = None
    end: int | None = None
    is_kept: bool = False

    @property
    def begin(self) -> int | None:
        """Return the first pane of the cube that the pieces of the region cover. Return None if it has no piece."""
        pane = self.closed.first
        if pane is None:
            return None
        begin = pane * self.view.panes
        return begin if self.first is None else max(begin, self.first)

    def whole_panes(self, first: int, end: int) -> tuple[int, int]:
        """Return the first pane of the view, and the pane after the last, that lie within an interval of panes of the
        cube and for which the view is complete.
        """
        panes = self.view.panes
        first, end = self.within(first, end)
        return -(-first // panes), end // panes

    def cells(self, first: int, end: int) -> int:
        """Return the number of cells in an interval of panes of the cube. Both ends of the interval are bounds of panes
        of the view.
        """
        return self.closed.cells(first // self.view.panes, end // self.view.panes) if first < end else 0

    def within(self, first: int, end: int) -> tuple[int, int]:
        """Return the part of an interval of panes of the cube for which the view is complete."""
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
        # A band that was added later may end before the first pane that is kept.
        first = region.end if first is None or region.end is None else max(first, region.end)
    return bounded


def kept_levels(state: CubeState) -> Levels:
    """Return the finest cuboid that all kept panes can answer: of each dimension, the finest level that all regions
    have. The oldest bands are ignored as long as they have no piece.
    """
    regions = kept_regions(state, None)
    while len(regions) > 1 and regions[0].begin is None:
        del regions[0]
    return tuple(map(min, zip(*(region.view.cuboid for region in regions), strict=True)))


def first_kept(state: CubeState) -> int | None:
    """Return the first pane of the cube that has a piece, of open panes and separate late records as well. Return None
    if there is no piece.
    """
    firsts = [own.closed.first * own.view.panes for own in kept_regions(state, None) if own.closed.first is not None]
    firsts += state.panes.open
    firsts += (piece.pane for piece in state.apart.pieces())
    first = min(firsts, default=None)
    # A pane of a band may begin before the first pane of the cube that is kept.
    return first if first is None or state.kept_from is None else max(first, state.kept_from)
