"""Cells of some panes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube.part import Part
from asc.operators.cube.question import Question
from asc.operators.cube.selection import selected, within
from tests.asc.operators.cube.local_times import EPOCH, HOUR, cube_of, definition

PANES = st.lists(st.integers(0, 60), min_size=1, max_size=40)


@given(PANES, st.lists(st.integers(0, 70), min_size=2, max_size=8, unique=True).map(sorted))
def test_cells_of_segments_are_those_whose_pane_is_in_one(panes: list[int], bounds: list[int]) -> None:
    cells = cube_of([EPOCH + pane * HOUR for pane in panes], "UTC").cells
    segments = list(zip(bounds[::2], bounds[1::2], strict=False))
    chosen = [pane for pane in cells.panes.tolist() if any(first <= pane < end for first, end in segments)]
    reserved: list[int] = []
    assert within(cells, segments, reserved.append).panes.tolist() == chosen
    # The copy alone stays reserved.
    inner = cells.between(segments[0][0], segments[-1][1])
    assert sum(reserved) in (0, inner.size_bytes * len(chosen) // max(1, inner.count))


@given(PANES, st.sampled_from([{}, {"hours": "3-5"}, {"hours": "22-1", "to": "1970-01-02T12:00:00Z"}]))
def test_selected_cells_are_in_the_interval_and_the_hours(panes: list[int], body: dict[str, Any]) -> None:
    cube = cube_of([EPOCH + pane * HOUR for pane in panes], "UTC")
    question = Question.parse(body, definition())
    (part,) = selected([Part.base(cube.layout, cube.cells)], question)
    hours = range(24) if question.hours is None else question.hours.hours
    chosen = [pane for pane in cube.cells.panes.tolist() if pane % 24 in hours and (question.end or 99) > pane]
    assert part.cells.panes.tolist() == chosen
