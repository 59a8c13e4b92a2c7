"""The points of the chart on a cube's console page: intervals of panes, each of which the chart draws as one value."""

from __future__ import annotations

from math import lcm

from asc.operators.cube.lattice import Lattice
from asc.operators.cube.points import Points
from asc.operators.cube.question import Question
from asc.operators.cube.view import View
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.region import kept_regions


def chart_points(
    state: CubeState, question: Question, most: int, open_from: int | None, forced: View | None
) -> Points | None:
    """Return the points of a chart over the interval of a question. Return None if the interval is empty, or has no
    first or last pane.

    ``most``: the most points. ``open_from``: the first open pane; None if all panes are open. ``forced``: the view that
    ``answer_from`` names, or None. Each point consists of whole panes of this view and of the bands in the interval,
    because a pane of a view cannot be divided.
    """
    first, end = question.first, question.end
    if first is None or end is None or first >= end:
        return None
    unit = 1 if forced is None else forced.panes
    for region in kept_regions(state, open_from):
        if (region.end is None or first < region.end) and (region.first is None or region.first < end):
            unit = lcm(unit, region.view.panes)
    return Points.of(first, end, most, Lattice(state.definition.dimensions, state.grain_us // 1_000_000), unit)
