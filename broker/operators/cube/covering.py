"""Choice of the stored views that answer a question. Each part of the question's interval is read from the nearest
materialised ancestor: of the views that can answer the part, the one with the fewest cells.
"""

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
"""The most views that are compared for each segment of an interval: of at most _FEW_SEGMENTS segments, and of more."""
_FEW_SEGMENTS = 100
_SAMPLED_SEGMENTS = 9
"""The most segments in which the cells of views are counted, to select the views that are compared."""

Segment = tuple[int, int]
"""An interval of panes of the cube: the first pane, and the pane after the last. Views with panes of any length may
cover it.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Portion:
    """Panes of a view that answer a part of a question's interval. ``first``, ``end``: numbers of the view's panes,
    without ``end``. ``source``: the view with its pieces.
    """

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
    """Return the portions that answer the closed panes of a question's interval, in ascending order of panes.

    ``wanted``: the cuboid with exactly the levels that the question needs. ``open_from``: the first open pane; None if
    all panes are open. ``forced``: the only stored view that may answer; bands and the base cuboid answer the parts
    that this view lacks. It is None if the nearest views answer. ``step``: a number of panes of the cube; each pane of
    a view must lie within one interval of this length. None means the length of the question's intervals. Raise
    CubeError if a part of the interval is deleted, or is kept in coarser cells than the question needs.
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
                # The question has too many segments to choose views. The kept region can answer alone, because it has
                # all panes.
                portions.append(_whole(region, own_first, own_end))
                continue
            # In a coarser view, more cells would only touch the scope. So exclude views that are coarser than the kept
            # pieces, except a view that the question names.
            is_exact = question.within is not None and forced is None
            levels = question.within.exact(wanted, region.view.cuboid) if is_exact and question.within else wanted
            portions += covered(region, views, levels, segments, question.panes if step is None else step)
    return portions


def interval_of(portions: Sequence[Portion]) -> tuple[int, int]:
    """Return the panes of the cube in which successive portions have pieces: the first pane, and the pane after the
    last.
    """
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
    """Return the first pane of a question. If the question has no ``from``, return the pane of the oldest piece,
    rounded to the question's intervals. Return None if there are no pieces.
    """
    if question.first is not None:
        return question.first
    firsts = (region.closed.first for region in kept)
    oldest = next((own * region.view.panes for own, region in zip(firsts, kept, strict=True) if own is not None), None)
    if oldest is None:
        return None
    first, least = question.floor(oldest), kept[0].first
    # Skip an interval of which a part is deleted, because its row would lack records.
    return first if least is None or first >= least else question.ceil(first + 1)


def covered(
    base: Region, views: Sequence[Region], wanted: Levels, segments: Sequence[Segment], step: int | None = None
) -> list[Portion]:
    """Return portions of the nearest materialised ancestors that cover the segments, in ascending order.

    ``wanted``: the cuboid with exactly the levels that the question needs. ``step``: the panes of each row's interval;
    None if one row combines all panes. A view is not used if the length of its panes does not divide ``step``. The
    nearest ancestor is the view with the fewest cells to read for the segment (StreamingCube, algorithm 1). These
    include base cells at both ends, where the view has no whole pane. Of views with equal numbers of cells, the
    coarsest is chosen. Only a few views are compared. Cost: some searches for each segment and compared view.
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
    """Return each view that portions read, with the first pane and the pane after the last of each portion. The views
    are in the order of their first portions.
    """
    found: dict[int, tuple[Region, list[Segment]]] = {}
    for own in portions:
        found.setdefault(id(own.source), (own.source, []))[1].append((own.first, own.end))
    return list(found.values())


def _compared(base: Region, views: Sequence[Region], segments: Sequence[Segment]) -> list[Region]:
    """Return the views that are compared for each segment: at most _VIEWS_MAX, or _VIEWS_OF_MANY of many segments.

    The result contains the views with the fewest cells to read in the sampled segments, including the base cells at
    both ends. For many segments, the second view is the one with the fewest cells to read together with the first view.
    It may answer the ends of segments, where the first view has no whole pane. Cost: some searches for each view and
    each of _SAMPLED_SEGMENTS.
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
    """Return at most _SAMPLED_SEGMENTS segments that are spread over all segments.

    The distances between the returned segments differ, so that not all of them cover the same hours of a day.
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
    """Return the number of cells that are read for an interval if ``source`` answers its whole panes, and the base
    pieces or one of the views ``others`` answer both ends.
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
    """Return the portions of one segment. The view with the fewest cells to read answers its whole panes in the
    segment. The nearest of the other views, or the base pieces, answer both ends.
    """
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
