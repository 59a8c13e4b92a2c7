"""Covering of a question's interval with the stored views of a cube: the nearest materialised ancestor of each part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from asc.errors import CubeError
from asc.operators.cube.cuboid import Levels
from asc.operators.cube.layout import Layout
from asc.operators.cube.question import Question
from asc.operators.cube.source import needed_columns
from asc.operators.cube.view import View
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.panes import ClosedPanes

_VIEWS_MAX, _VIEWS_OF_MANY = 8, 2
"""The most views that are compared for each segment of an interval, if the segments are few and if they are many."""
_FEW_SEGMENTS = 100

Segment = tuple[int, int]
"""Panes of the cube, from the first to before the second, that one view may cover with panes of any length."""


@dataclass(frozen=True, slots=True, eq=False)
class Covering:
    """Closed pieces of one view that can answer questions.

    ``first``, ``end``: the panes of the cube for which it is complete. None means no bound. ``is_base``: whether the
    pieces are those of the base cuboid, which other views are computed from.
    """

    view: View
    closed: ClosedPanes
    first: int | None = None
    end: int | None = None
    is_base: bool = False

    def whole_panes(self, first: int, end: int) -> Segment:
        """Return the panes of the view that lie within panes of the cube, and for which the view is complete."""
        panes = self.view.panes
        if self.first is not None:
            first = max(first, self.first)
        if self.end is not None:
            end = min(end, self.end)
        return -(-first // panes), end // panes


@dataclass(frozen=True, slots=True, eq=False)
class Portion:
    """Panes of a view that answer a part of an interval. ``first``, ``end``: numbers of the view's own panes."""

    source: Covering
    first: int
    end: int


def portions_of(
    state: CubeState, layout: Layout, question: Question, open_from: int | None, forced: View | None
) -> list[Portion]:
    """Return the portions that answer the closed panes of a question's interval, ascending.

    ``open_from``: the first open pane; None if all are open. ``forced``: the only view that may answer, beside the base
    pieces at its ends; None if the nearest views answer.
    """
    closed, dimensions = state.panes.closed, state.definition.dimensions
    base = Covering(View.base(dimensions), closed, is_base=True)
    first = closed.following(None) if question.first is None else question.first
    end = open_from if question.end is None or open_from is None else min(question.end, open_from)
    if first is None or end is None or first >= end:
        return []
    if not state.views or forced == base.view:
        return [Portion(base, first, end)]
    views = [
        Covering(own.view, own.closed, end=own.end)
        for own in state.views
        if own.end is not None and forced in (None, own.view)
    ]
    wanted = dimensions.cuboid_with(needed_columns(layout, question))
    if forced is not None and not _answers(forced, wanted, question.panes):
        name = forced.name(dimensions, state.grain_us // 1_000_000)
        remedy = "is no ancestor of the question: name one with all dimensions of by and where, and no longer panes"
        raise CubeError("answer_from", name, remedy)
    return covered(base, views, wanted, [(first, end)], question.panes)


def covered(
    base: Covering, views: Sequence[Covering], wanted: Levels, segments: Sequence[Segment], step: int | None = None
) -> list[Portion]:
    """Return portions that cover the segments, ascending, from the nearest materialised ancestors.

    ``wanted``: the cuboid that has all dimensions of the question. ``step``: the panes of each row's interval; None if
    all panes are combined. A view whose panes do not divide it is not used. The nearest ancestor is the
    view with the fewest cells in the segment (StreamingCube, algorithm 1), where the base pieces fill in what the view
    lacks at both ends. Of equal ones, the coarsest is taken. Cost: some searches for each segment and view.
    """
    finer = [own for own in views if _answers(own.view, wanted, step)]
    first, end = (segments[0][0], segments[-1][1]) if segments else (0, 0)
    nearest = sorted(finer, key=lambda own: (_cost(base, own, (), first, end), _coarseness(own)))
    views_max = _VIEWS_MAX if len(segments) <= _FEW_SEGMENTS else _VIEWS_OF_MANY
    portions: list[Portion] = []
    for segment in segments:
        for portion in _nearest(base, nearest[:views_max], *segment):
            last = portions[-1] if portions else None
            if last is not None and last.source is portion.source and last.end == portion.first:
                portions[-1] = Portion(last.source, last.first, portion.end)
            else:
                portions.append(portion)
    return portions


def _answers(view: View, wanted: Levels, step: int | None) -> bool:
    has_levels = all(mine >= their for mine, their in zip(view.cuboid, wanted, strict=True))
    return has_levels and (step is None or step % view.panes == 0)


def _cost(base: Covering, source: Covering, others: Sequence[Covering], first: int, end: int) -> int:
    """Return the cells that are read for an interval if one view answers it, and the base or one of the others answers
    each of its ends.
    """
    inner_first, inner_end = source.whole_panes(first, end)
    if inner_first >= inner_end:
        return base.closed.cells(first, end)
    panes = source.view.panes
    edges = ((first, inner_first * panes), (inner_end * panes, end))
    cells = sum(_least(base, others, *edge) for edge in edges if edge[0] < edge[1])
    return cells + source.closed.cells(inner_first, inner_end)


def _least(base: Covering, views: Sequence[Covering], first: int, end: int) -> int:
    cells = base.closed.cells(first, end)
    return min((_cost(base, own, (), first, end) for own in views), default=cells) if cells and views else cells


def _coarseness(source: Covering) -> tuple[int, int, View]:
    return -source.view.panes, sum(source.view.cuboid), source.view


def _nearest(base: Covering, views: Sequence[Covering], first: int, end: int) -> list[Portion]:
    """Return the portions of one segment. The edges of a view with long panes come from the nearest of the others."""
    if first >= end:
        return []
    least, best = base.closed.cells(first, end), None
    for own in views:
        inner_first, inner_end = own.whole_panes(first, end)
        if inner_first < inner_end:
            cost = _cost(base, own, views, first, end)
            if cost < least or (cost == least and best is None):
                least, best = cost, own
    if best is None:
        return [Portion(base, first, end)]
    inner_first, inner_end = best.whole_panes(first, end)
    others = [own for own in views if own is not best]
    before = _nearest(base, others, first, inner_first * best.view.panes)
    after = _nearest(base, others, inner_end * best.view.panes, end)
    return [*before, Portion(best, inner_first, inner_end), *after]
