"""Ageing of a cube's panes: bands of older panes replace finer ones, and the oldest panes are deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from asc.operators.cube.keep import Band
from asc.operators.cube.view import View
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.new_piece import NewPiece
from broker.operators.cube.panes import StoredPiece
from broker.operators.cube.region import Region
from broker.operators.cube.stored_view import StoredView
from broker.operators.cube.view_folding import ViewFolder

_NOTHING: Sequence[NewPiece] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Aged:
    """A cube after one step of ageing, and the piece to be written. ``gone``: the pieces that are not kept any more."""

    after: CubeState
    added: Sequence[NewPiece]
    gone: Sequence[StoredPiece]


def aged(state: CubeState, bands: Sequence[Band], open_from: int | None, folder: ViewFolder) -> Aged | None:
    """Return a cube after the next step of ageing. Return None if nothing has to be done.

    ``bands``: the bands of the definition, finest first. ``open_from``: the first open pane. A step moves one pane of a
    band, or deletes the panes that are older than the last band. The caller writes it in one transaction, so that each
    pane is in exactly one band at any time. Raise DamagedPieceError if a piece is damaged.

    Cost: a step reads the finer pieces of one pane, and merges them.
    """
    if state.layout is None or open_from is None or not bands:
        return None
    needed_from = open_from if state.windows is None else state.windows.needed_from()
    if needed_from is None:
        return None
    limits = _limits(state, bands, open_from, needed_from)
    if state.kept_from is None or limits[-1] > state.kept_from:
        return _without_oldest(state, limits[-1])
    for place in reversed(range(len(state.bands))):
        coarser, finer = state.bands[place], _finer(state, place)
        if place and finer.end is None:
            continue
        limit = limits[place]
        if finer.end is not None:
            limit = min(limit, finer.end // coarser.view.panes * coarser.view.panes)
        if coarser.end is None or coarser.end < limit:
            return _moved(state, place, finer, limit, folder)
    return None


def _limits(state: CubeState, bands: Sequence[Band], open_from: int, needed_from: int) -> list[int]:
    """Return for each kept view, finest first, the pane of the cube before which its panes go on or are deleted.

    A limit is a multiple of the panes of the next band, so that only whole panes go on. Base panes stay for a window
    more, because late records change written windows, and as long as windows still need them (``needed_from``). A
    stored band that the definition does not name any more goes on with the band before it.
    """
    grain_s = state.grain_us // 1_000_000
    ages = {band.view: band.age_s // grain_s for band in bands}
    views = [View.base(state.definition.dimensions), *(band.view for band in state.bands)]
    age, latest, limits = 0, needed_from, []
    for place, view in enumerate(views):
        is_last = place == len(views) - 1
        age = max(age, ages.get(view, age), bands[-1].age_s // grain_s if is_last else 0)
        limit = open_from - age
        if place == 0 and state.windows is not None:
            limit -= state.windows.output.sliding.window
        step = views[place if is_last else place + 1].panes
        # No pane is deleted before it has gone on.
        latest = min(latest, limit // step * step)
        limits.append(latest // step * step)
    return limits


def _finer(state: CubeState, place: int) -> Region:
    """Return the pieces from which the band at an index is computed: the band before it, or the base pieces."""
    if place == 0:
        return Region(View.base(state.definition.dimensions), state.panes.closed)
    band = state.bands[place - 1]
    return Region(band.view, band.closed, end=band.end)


def _without_oldest(state: CubeState, limit: int) -> Aged:
    """Return a cube without the panes before ``limit``."""
    gone = [piece for band in state.bands for piece in band.panes.before(limit // band.view.panes)]
    gone += [*state.panes.before(limit), *state.apart.before(limit)]
    after = replace(
        state,
        kept_from=limit,
        panes=state.panes.kept_from(limit),
        apart=state.apart.kept_from(limit),
        bands=tuple(band.kept_from(limit) for band in state.bands),
    )
    return _with_derived_views(after, (), gone)


def _moved(state: CubeState, place: int, finer: Region, limit: int, folder: ViewFolder) -> Aged:
    """Return a cube after the oldest pane has gone on to the band at an index, with all pieces of that pane.

    If there are no pieces before ``limit``, only the end of the band moves.
    """
    layout, band = state.layout, state.bands[place]
    assert layout is not None
    panes, length = band.view.panes, finer.view.panes
    begin = finer.closed.following(None if band.end is None else band.end // length)
    if begin is None or begin * length >= limit:
        end, added = limit, _NOTHING
        moved = replace(band, filled_to=limit // panes)
    else:
        pane = begin * length // panes
        end = (pane + 1) * panes
        moved, added = folder.with_pane(layout, band, finer, pane)
    bands = [*state.bands]
    bands[place] = moved
    if place == 0:
        gone = list(state.panes.before(end))
        after = replace(state, panes=state.panes.kept_from(end), bands=tuple(bands))
    else:
        gone = list(bands[place - 1].panes.before(end // length))
        bands[place - 1] = bands[place - 1].kept_from(end)
        after = replace(state, bands=tuple(bands))
    return _with_derived_views(after, added, gone)


def _with_derived_views(after: CubeState, added: Sequence[NewPiece], gone: list[StoredPiece]) -> Aged:
    """Return a step with the views that can still be computed from what is kept. Panes of views that are finer than
    what is kept are deleted with it.
    """
    views = []
    for view in after.views:
        first = after.derived_from(view.view)
        if first is not None:
            gone += view.panes.before(-(-first // view.view.panes))
        views.append(view if first is None else view.kept_from(first))
    return Aged(replace(after, views=tuple(views)), added, gone)


def with_bands(stored: Sequence[StoredView], wanted: Sequence[Band]) -> list[StoredView | View]:
    """Return the bands of a cube for a definition, finest first: stored ones, and views for which one is to be added.

    ``wanted``: the bands of the definition after the first, which fit the stored ones. Stored bands with panes stay,
    also if the definition does not name them any more: their panes go on to the next band.
    """
    views = [band.view for band in wanted]
    kept = [own for own in stored if own.view in views or own.panes.count]
    views += [own.view for own in kept if own.view not in views]
    by_view = {own.view: own for own in kept}
    return [by_view.get(view, view) for view in sorted(views, key=lambda view: view.fineness)]
