"""Ageing of a cube's panes: coarser cells of a band replace the cells of older panes, and the oldest panes are deleted.
A band is an entry of ``keep``: a view, and the age up to which the cube keeps panes of this view.
"""

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
    """The result of one step of ageing. ``after``: the state of the cube after the step. ``added``: the pieces to be
    written. ``gone``: the pieces that the cube no longer keeps.
    """

    after: CubeState
    added: Sequence[NewPiece]
    gone: Sequence[StoredPiece]


def aged(state: CubeState, bands: Sequence[Band], open_from: int | None, folder: ViewFolder) -> Aged | None:
    """Return a cube after the next step of ageing. Return None if no pane has to move to a band or to be deleted.

    ``bands``: the bands of the definition, finest first. ``open_from``: the first open pane. None if no pane is closed.
    A step moves the cells of one pane of a band into that band, or deletes the panes that are older than the last band.
    The caller writes the step in one transaction, so that each pane is in exactly one band at any time. Raise
    DamagedPieceError if a piece is damaged.

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
    """Return for the base view and each band, finest first, a pane of the cube. Panes of the view before this pane move
    to the next band, or are deleted if there is no next band.

    A limit is a multiple of the length of the next band's panes, so that only whole panes move. Base panes are kept for
    the length of one window longer, because late records change written windows. Base panes are also kept while windows
    still need them: from the pane ``needed_from`` on. The panes of a stored band that the definition no longer names
    move at the age of the preceding band.
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
        # A pane is deleted only after its cells have moved to the next band.
        latest = min(latest, limit // step * step)
        limits.append(latest // step * step)
    return limits


def _finer(state: CubeState, place: int) -> Region:
    """Return the pieces from which the band at the index ``place`` is computed: those of the preceding, finer band, or
    the base pieces for the first band.
    """
    if place == 0:
        return Region(View.base(state.definition.dimensions), state.panes.closed)
    band = state.bands[place - 1]
    return Region(band.view, band.closed, end=band.end)


def _without_oldest(state: CubeState, limit: int) -> Aged:
    """Return a cube without the panes before the pane ``limit``, in the base pieces, in the late records that are
    stored separately, and in bands.
    """
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
    """Return a cube after all pieces of the oldest pane have moved from ``finer`` to the band at the index ``place``.

    If ``finer`` has no pieces before the pane ``limit``, only the end of the band increases.
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
    """Return a step of ageing that also deletes the panes of stored views that can no longer be computed from kept
    pieces. An answer so does not depend on whether a view is stored.
    """
    views = []
    for view in after.views:
        first = after.derived_from(view.view)
        if first is not None:
            gone += view.panes.before(-(-first // view.view.panes))
        views.append(view if first is None else view.kept_from(first))
    return Aged(replace(after, views=tuple(views)), added, gone)


def with_bands(stored: Sequence[StoredView], wanted: Sequence[Band]) -> list[StoredView | View]:
    """Return the bands of a cube for a definition, finest first. A StoredView is a band that the cube already has. A
    View is a band that the caller has to add.

    ``wanted``: the bands of the definition except the first, which is the base view; each is finer or coarser than each
    stored band. A stored band with panes is kept although the definition no longer names it, until its panes move to
    the next band.
    """
    views = [band.view for band in wanted]
    kept = [own for own in stored if own.view in views or own.panes.count]
    views += [own.view for own in kept if own.view not in views]
    by_view = {own.view: own for own in kept}
    return [by_view.get(view, view) for view in sorted(views, key=lambda view: view.fineness)]
