"""Roll-up of closed panes to the stored views of a cube, computed before the transaction writes anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from zlib import crc32

from asc.frozen import frozen
from asc.operators.cube.cells import Cells, merged
from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.layout import Layout
from asc.operators.cube.view import View
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.new_piece import NewPiece
from broker.operators.cube.panes import StoredPiece, sound
from broker.operators.cube.region import Region, kept_regions
from broker.operators.cube.step_cells import ReadAll, StepCells
from broker.operators.cube.stored_view import StoredView

FOLDED_CELLS = 2_000_000
"""The cells that one transaction reads to extend the views of a cube. A single pane of a view may need more."""
_TOGETHER_CELLS = 200_000
"""The cells that one merge combines. A single piece may have more."""

_NEVER = -(2**62)
"""A number that is less than that of any pane."""


@dataclass(slots=True)
class FoldedViews:
    """The views and bands of a cube after a step. ``added``: the pieces to be written. ``gone``: the cells of the
    pieces to be deleted, by the number of the piece.

    ``read_cells``: the number of cells that were read to extend views.
    """

    views: tuple[StoredView, ...]
    bands: tuple[StoredView, ...]
    added: list[NewPiece] = field(default_factory=list)
    gone: dict[int, Cells] = field(default_factory=dict)
    read_cells: int = 0

    def has_changed(self, before: tuple[StoredView, ...]) -> bool:
        """Return whether the views differ from those before the step."""
        return any(own is not former for own, former in zip(self.views, before, strict=True))


class ViewFolder:
    """The rules by which the stored views of a cube are updated after a change of its base pieces.

    A pane of a view is computed once, when all base panes that it covers are closed. It is computed from the finer view
    with the fewest cells in this time. Later cells of these panes are merged into the piece of the view in the same
    transaction as into the base piece. So views add a cost to each closed pane and to late records, not to other
    records.
    """

    def __init__(self, read: ReadAll, numbers: Iterator[int], size_bytes_max: int) -> None:
        """Set the sources. ``read`` returns the cells of pieces. ``numbers``: the numbers of new pieces.

        ``size_bytes_max``: if the pieces of a cube have more bytes, its views are not extended.
        """
        self._read = read
        self._numbers = numbers
        self._size_bytes_max = size_bytes_max

    def after(
        self,
        state: CubeState,
        added: Cells | None,
        open_from: int | None,
        fresh: Mapping[int, Cells],
        *,
        cells_max: int = FOLDED_CELLS,
        complete_to: int | None = None,
    ) -> FoldedViews:
        """Return the views of a cube after a step. ``state``: the cube with its new base pieces and its former views.

        ``added``: the cells that the step adds to the base pieces. ``open_from``: the first open pane after the step.
        ``fresh``: the cells of the new base pieces, by the number of the piece. ``cells_max``: after this number of
        cells, no further pane of a view is read. ``complete_to``: the pane of the cube up to which a view must be
        complete to be extended; None extends all views. Raise DamagedPieceError if a piece is damaged.
        """
        layout = state.layout
        result = FoldedViews(state.views, state.bands)
        if layout is None or not (state.views or state.bands):
            return result
        step = _Step(layout, StepCells(layout, self._read, fresh, is_kept=True), self._numbers, result)
        regions = kept_regions(state, open_from)
        if added is not None:
            firsts = {region.view: region.first for region in regions}
            result.bands = tuple(step.with_late(band, added, firsts.get(band.view)) for band in state.bands)
        sources: list[Region] = []
        by_number: dict[int, StoredView] = {}
        for view in sorted(state.views, key=lambda own: own.view.fineness):
            first = state.derived_from(view.view)
            changed = view if added is None else step.with_late(view, added, _aligned(first, view.view.panes))
            target = None if open_from is None else open_from // view.view.panes
            is_lagging = complete_to is not None and _filled_to(view) < complete_to // view.view.panes
            is_full = state.size_bytes + sum(new.stored.size_bytes for new in result.added) > self._size_bytes_max
            if target is not None and not (is_full or is_lagging) and result.read_cells < cells_max:
                changed = step.extended(changed, [*regions, *sources], first, target, cells_max)
            by_number[view.number] = changed
            if changed.end is not None:
                # Only a filled view may be the source of a coarser view, because an unfilled view lacks panes.
                sources.append(Region(changed.view, changed.closed, first, changed.end))
        result.views = tuple(by_number[view.number] for view in state.views)
        return result

    def with_pane(
        self, layout: Layout, view: StoredView, source: Region, pane: int
    ) -> tuple[StoredView, Sequence[NewPiece]]:
        """Return a view with one more pane, which is computed from finer pieces, and the piece to be written. The view
        is complete up to the end of this pane.
        """
        result = FoldedViews((), ())
        # Do not cache the cells of the finer pieces, because these pieces are deleted afterwards.
        step = _Step(layout, StepCells(layout, self._read, {}, is_kept=False), self._numbers, result)
        begin = replace(view, filled_to=pane)
        kept = replace(source, is_kept=True)
        return step.extended(begin, [kept], None, pane + 1, FOLDED_CELLS), result.added


@dataclass(slots=True)
class _Growing:
    """The input of the next merge for a view: cells that are already merged, and pieces that are still to be read, by
    region. ``count``: the number of cells of both.
    """

    merged: list[Cells] = field(default_factory=list)
    regions: list[tuple[Region, list[StoredPiece]]] = field(default_factory=list)
    count: int = 0

    def add(self, region: Region, pieces: Sequence[StoredPiece]) -> None:
        if not self.regions or self.regions[-1][0] is not region:
            self.regions.append((region, []))
        self.regions[-1][1].extend(pieces)
        self.count += sum(own.cells for own in pieces)


class _Step:
    """The computation of one step for all views of a cube. Views that are computed later can read the new pieces of
    earlier views.
    """

    def __init__(self, layout: Layout, cells: StepCells, numbers: Iterator[int], result: FoldedViews) -> None:
        self._layout = layout
        self._cells = cells
        self._numbers = numbers
        self._result = result

    def with_late(self, view: StoredView, added: Cells, first: int | None) -> StoredView:
        """Return a view after cells were added to panes that the view already has. Cells before the pane ``first`` of
        the cube are ignored.
        """
        late = added.between(first, view.end) if view.end is not None else added.slice(0, 0)
        if not late.count:
            return view
        changed: dict[int, tuple[StoredPiece, ...]] = {}
        delta = merged(self._layout, [self._rolled_up(late, View.base(self._dimensions), view.view)])
        for start, stop in pairwise(delta.bounds):
            pane = int(delta.panes[start])
            former = sound(view.panes.pane(pane))
            parts = self._cells.pieces(former)
            self._result.gone |= {own.number: cells for own, cells in zip(former, parts, strict=True)}
            whole = merged(self._layout, [*parts, delta.slice(start, stop)])
            changed[pane] = self._new(view, whole)[pane]
        return view.with_pieces(changed, view.filled_to)

    def extended(
        self, view: StoredView, regions: Sequence[Region], least: int | None, target: int, cells_max: int
    ) -> StoredView:
        """Return a view filled up to its pane ``target``. Stop earlier, between two panes, if ``cells_max`` cells were
        read.

        ``regions``: the sources of the view: first the kept regions, oldest first, then finer stored views. ``least``:
        the first pane of the cube for which the view can be computed; None if there is no bound.
        """
        panes = view.view.panes
        first = _begin(view, regions, least)
        if first is None or first >= target:
            return view if view.filled_to is not None else replace(view, filled_to=target)
        changed: dict[int, tuple[StoredPiece, ...]] = {}
        growing = _Growing()
        current = None
        for source, pane in _pieces_of(view.view, regions, first * panes, target * panes):
            place = pane * source.view.panes // panes
            if place != current:
                if current is not None and self._result.read_cells >= cells_max:
                    target = place
                    break
                current = place
            if growing.count > _TOGETHER_CELLS:
                growing = self._flushed(view, growing, place, changed)
            pieces = sound(source.closed[pane])
            growing.add(source, pieces)
            self._result.read_cells += sum(piece.cells for piece in pieces)
        self._flushed(view, growing, target, changed)
        return view.with_pieces(changed, target)

    def _flushed(
        self, view: StoredView, growing: _Growing, end: int, changed: dict[int, tuple[StoredPiece, ...]]
    ) -> _Growing:
        """Merge the cells of ``growing``, and write the pieces of the view's panes before ``end``. Return the merged
        cells of later panes, which may still get more cells.
        """
        runs = ((region.view, self._cells.run(pieces)) for region, pieces in growing.regions)
        parts = [*growing.merged, *(self._rolled_up(cells, source, view.view) for source, cells in runs)]
        if not parts:
            return _Growing()
        whole = merged(self._layout, parts)
        changed |= self._new(view, whole.between(None, end))
        rest = whole.between(end, None)
        return _Growing([rest], count=rest.count) if rest.count else _Growing()

    def _rolled_up(self, cells: Cells, source: View, target: View) -> Cells:
        """Return cells of a view with the keys and panes of a coarser view. Equal cells are not merged."""
        columns = self._dimensions.columns(source.cuboid)
        kept = [columns.index(place) for place in self._dimensions.columns(target.cuboid)]
        ratio = target.panes // source.panes
        panes = cells.panes if ratio == 1 else frozen(cells.panes // ratio)
        return replace(cells.rolled_up(kept), panes=panes)

    def _new(self, view: StoredView, cells: Cells) -> dict[int, tuple[StoredPiece, ...]]:
        """Return new pieces of a view, by pane, and add them to the pieces to be written."""
        pieces_by_pane: dict[int, tuple[StoredPiece, ...]] = {}
        for piece in cells.pieces(self._layout):
            data = piece.to_bytes()
            stored = StoredPiece(next(self._numbers), piece.pane, piece.count, len(data), crc32(data))
            self._result.added.append(NewPiece(stored, data, view=view.number))
            pieces_by_pane[piece.pane] = (stored,)
        self._cells.write([own.number for (own,) in pieces_by_pane.values()], cells)
        return pieces_by_pane

    @property
    def _dimensions(self) -> Dimensions:
        return self._layout.definition.dimensions


def _aligned(pane: int | None, panes: int) -> int | None:
    """Round the pane ``pane`` of the cube up to a multiple of ``panes``, the length of a view's panes. Return None for
    None.
    """
    return None if pane is None else -(-pane // panes) * panes


def _filled_to(view: StoredView) -> int:
    return _NEVER if view.filled_to is None else view.filled_to


def _begin(view: StoredView, regions: Sequence[Region], least: int | None) -> int | None:
    """Return the first pane of a view that is to be filled. Return None if there are no pieces to fill it from."""
    panes = view.view.panes
    least = _aligned(least, panes)
    least_pane = None if least is None else least // panes
    if view.filled_to is not None:
        return view.filled_to if least_pane is None else max(view.filled_to, least_pane)
    firsts = (
        own.closed.first * own.view.panes // panes
        for own in regions
        if own.is_kept and own.closed.first is not None and own.view.is_finer(view.view)
    )
    oldest = min(firsts, default=None)
    return oldest if oldest is None or least_pane is None else max(oldest, least_pane)


def _pieces_of(view: View, regions: Sequence[Region], first: int, end: int) -> Iterator[tuple[Region, int]]:
    """Yield the panes from which a view is computed, in ascending order, each as a region and the number of a pane of
    the region's view.

    ``first``, ``end``: panes of the cube. Within each kept region, the panes come from the finer complete view with the
    fewest cells, or from the kept region.
    """
    others = [own for own in regions if not own.is_kept and own.view.is_finer(view)]
    for kept in (own for own in regions if own.is_kept and own.view.is_finer(view)):
        own_first, own_end = kept.within(first, end)
        if own_first >= own_end:
            continue
        complete = [own for own in others if _holds(own, own_first, own_end)]
        source = min([kept, *complete], key=lambda own: own.cells(own_first, own_end))
        panes = source.view.panes
        pane = source.closed.following(own_first // panes)
        while pane is not None and pane < own_end // panes:
            yield source, pane
            pane = source.closed.following(pane + 1)


def _holds(region: Region, first: int, end: int) -> bool:
    is_aligned = first % region.view.panes == 0 == end % region.view.panes
    return is_aligned and region.within(first, end) == (first, end)
