"""Covering of a question's interval with the stored views of a cube: the nearest materialised ancestor of each part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from asc.errors import CubeError
from asc.operators.cube.cuboid import Levels
from asc.operators.cube.question import Question
from asc.operators.cube.view import View
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.kept_check import KeptCheck
from broker.operators.cube.region import Region, kept_regions

_VIEWS_MAX, _VIEWS_OF_MANY = 8, 2
"""The most views that are compared for each segment of an interval, if the segments are few and if they are many."""
_FEW_SEGMENTS = 100
_SAMPLED_SEGMENTS = 9
"""The number of segments by which views are compared with each other."""

Segment = tuple[int, int]
"""Panes of the cube, from the first to before the second, that one view may cover with panes of any length."""


@dataclass(frozen=True, slots=True, eq=False)
class Portion:
    """Panes of a view that answer a part of an interval. ``first``, ``end``: numbers of the view's own panes."""

    source: Region
    first: int
    end: int


def portions_of(
    state: CubeState,
    question: Question,
    wanted: Levels,
    open_from: int | None,
    forced: View | None,
    *,
    step: int | None = None,
) -> list[Portion]:
    """Return the portions that answer the closed panes of a question's interval, ascending.

    ``wanted``: the cuboid that has all dimensions of the question. ``open_from``: the first open pane; None if all are
    open. ``forced``: the only view that may answer, beside the pieces of bands and of the base cuboid at its ends; None
    if the nearest views answer. ``step``: the panes of intervals that no pane of a view may cross, beside those of the
    question. Raise CubeError if a part of the interval is not kept, or not as finely as the question
    needs.
    """
    end = open_from if question.end is None or open_from is None else min(question.end, open_from)
    kept = kept_regions(state, open_from)
    check = KeptCheck(state, question, wanted, kept)
    check.check_bounds()
    first = _first(kept, question)
    if first is None or end is None or first >= end:
        return []
    views = [
        Region(own.view, own.closed, state.derived_from(own.view), own.end)
        for own in state.views
        if own.end is not None and forced in (None, own.view)
    ]
    if not views and len(kept) == 1:
        return [_whole(kept[0], first, end)]
    portions: list[Portion] = []
    for region in kept:
        own_first, own_end = region.within(first, end)
        if own_first < own_end:
            check.check_part(region, (own_first, own_end))
            try:
                segments = question.segments(own_first, own_end, region.view.panes)
            except CubeError:
                if forced is not None:
                    raise
                # The only copy of the panes answers any question.
                portions.append(_whole(region, own_first, own_end))
                continue
            # A coarser view would answer with more cells that only touch the scope, unless the question names it.
            is_exact = question.within is not None and forced is None
            levels = question.within.exact(wanted, region.view.cuboid) if is_exact and question.within else wanted
            portions += covered(region, views, levels, segments, question.panes if step is None else step)
    return portions


def interval_of(portions: Sequence[Portion]) -> tuple[int, int]:
    """Return the panes of the cube in which successive portions have pieces: from the first to before the last."""
    first, last = portions[0], portions[-1]
    begin = next((found for own in portions if (found := _first_pane(own)) is not None), first.first)
    return max(begin, first.first * first.source.view.panes), last.end * last.source.view.panes


def _first_pane(portion: Portion) -> int | None:
    """Return the first pane of the cube of the first piece of a portion. Return None if the portion has no piece."""
    pane = portion.source.closed.following(portion.first)
    return None if pane is None or pane >= portion.end else pane * portion.source.view.panes


def _whole(region: Region, first: int, end: int) -> Portion:
    return Portion(region, first // region.view.panes, end // region.view.panes)


def _first(kept: Sequence[Region], question: Question) -> int | None:
    """Return the first pane of a question, which is that of the oldest piece if the question has no beginning."""
    if question.first is not None:
        return question.first
    firsts = (region.closed.first for region in kept)
    oldest = next((own * region.view.panes for own, region in zip(firsts, kept, strict=True) if own is not None), None)
    if oldest is None:
        return None
    first, least = question.floor(oldest), kept[0].first
    # An interval of which a part is deleted would have too few records.
    return first if least is None or first >= least else question.ceil(first + 1)


def covered(
    base: Region, views: Sequence[Region], wanted: Levels, segments: Sequence[Segment], step: int | None = None
) -> list[Portion]:
    """Return portions that cover the segments, ascending, from the nearest materialised ancestors.

    ``wanted``: the cuboid that has all dimensions of the question. ``step``: the panes of each row's interval; None if
    all panes are combined. A view whose panes do not divide it is not used. The nearest ancestor is the
    view with the fewest cells in the segment (StreamingCube, algorithm 1), where the base pieces fill in what the view
    lacks at both ends. Of equal ones, the coarsest is taken. Of many views, a few are compared. Cost: some searches
    for each segment and compared view.
    """
    finer = [own for own in views if _answers(own.view, wanted, step)]
    compared = _compared(base, finer, segments)
    portions: list[Portion] = []
    for segment in segments:
        for portion in _nearest(base, compared, *segment):
            last = portions[-1] if portions else None
            if last is not None and last.source is portion.source and last.end == portion.first:
                portions[-1] = Portion(last.source, last.first, portion.end)
            else:
                portions.append(portion)
    return portions


def by_source(portions: Sequence[Portion]) -> list[tuple[Region, list[Segment]]]:
    """Return the views that portions read, in the order of their first portions, each with the portions' panes."""
    found: dict[int, tuple[Region, list[Segment]]] = {}
    for own in portions:
        found.setdefault(id(own.source), (own.source, []))[1].append((own.first, own.end))
    return list(found.values())


def _compared(base: Region, views: Sequence[Region], segments: Sequence[Segment]) -> list[Region]:
    """Return the views that are compared for each segment: at most _VIEWS_MAX, or _VIEWS_OF_MANY of many segments.

    They are those with the fewest cells in some segments, in which the base pieces fill in the ends. Of many segments,
    the second view is the best beside the first, because it answers the ends of the first. Cost: some searches for
    each view and each of _SAMPLED_SEGMENTS.
    """
    longest = max((end - first for first, end in segments), default=0)
    fitting = [own for own in views if own.view.panes <= longest]
    several = _sampled(segments)

    def cells(source: Region, *others: Region) -> int:
        return sum(min(base.cells(*own), _cost(base, source, others, *own)) for own in several)

    ranked = sorted(fitting, key=lambda own: (cells(own), _coarseness(own)))[:_VIEWS_MAX]
    if len(segments) <= _FEW_SEGMENTS or len(ranked) <= _VIEWS_OF_MANY:
        return ranked
    best, *others = ranked
    second = min(others, key=lambda own: min(cells(best, own), cells(own, best)))
    return [best, second]


def _sampled(segments: Sequence[Segment]) -> Sequence[Segment]:
    """Return at most _SAMPLED_SEGMENTS segments that are spread over all.

    The distances between them differ, so that they are not all of the same hours of a day.
    """
    count = len(segments)
    if count <= _SAMPLED_SEGMENTS:
        return segments
    last = _SAMPLED_SEGMENTS - 1
    return [segments[min(place * (count - 1) // last + place % 2, count - 1)] for place in range(_SAMPLED_SEGMENTS)]


def _answers(view: View, wanted: Levels, step: int | None) -> bool:
    has_levels = all(mine >= their for mine, their in zip(view.cuboid, wanted, strict=True))
    return has_levels and (step is None or step % view.panes == 0)


def _cost(base: Region, source: Region, others: Sequence[Region], first: int, end: int) -> int:
    """Return the cells that are read for an interval if one view answers it, and the base or one of the others answers
    each of its ends.
    """
    inner_first, inner_end = source.whole_panes(first, end)
    if inner_first >= inner_end:
        return base.cells(first, end)
    panes = source.view.panes
    edges = ((first, inner_first * panes), (inner_end * panes, end))
    cells = sum(_least(base, others, *edge) for edge in edges if edge[0] < edge[1])
    return cells + source.closed.cells(inner_first, inner_end)


def _least(base: Region, views: Sequence[Region], first: int, end: int) -> int:
    cells = base.cells(first, end)
    return min((_cost(base, own, (), first, end) for own in views), default=cells) if cells and views else cells


def _coarseness(source: Region) -> tuple[int, int, View]:
    return -source.view.panes, sum(source.view.cuboid), source.view


def _nearest(base: Region, views: Sequence[Region], first: int, end: int) -> list[Portion]:
    """Return the portions of one segment. The edges of a view with long panes come from the nearest of the others."""
    if first >= end:
        return []
    least, best = base.cells(first, end), None
    for own in views:
        inner_first, inner_end = own.whole_panes(first, end)
        if inner_first < inner_end:
            cost = _cost(base, own, views, first, end)
            if cost < least or (cost == least and best is None):
                least, best = cost, own
    if best is None:
        return [_whole(base, first, end)]
    inner_first, inner_end = best.whole_panes(first, end)
    others = [own for own in views if own is not best]
    before = _nearest(base, others, first, inner_first * best.view.panes)
    after = _nearest(base, others, inner_end * best.view.panes, end)
    return [*before, Portion(best, inner_first, inner_end), *after]
