"""Looks: the content of a console page about a cube. A table and a chart come from the same commit, so that they
agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asc.operators.cube.answer import answered_by, interval_of
from asc.operators.cube.answer_memory import Reserve
from asc.operators.cube.answered import Answered
from asc.operators.cube.asked_measure import AskedMeasure, asked_measure
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.layout import Layout
from asc.operators.cube.part import Part
from asc.operators.cube.pivot import Axes, Pivot, pivot
from asc.operators.cube.points import Points
from asc.operators.cube.question import Question
from asc.operators.cube.rows import check_measures
from asc.operators.cube.selection import selected
from asc.operators.cube.series import Series, is_number, series


@dataclass(frozen=True, slots=True)
class Wanted:
    """A console page's request for the content of a cube.

    ``body``: a question in the form of the API, without ``by``, ``measures`` and ``cursor``. ``skip``: the number of
    rows before the first row shown, also if the page before was of another commit. ``down``, ``across``: the dimensions
    of rows and of columns. ``measure``: the measure, or question function, that the chart draws and that the cells of a
    table with columns show; None means the first declared measure. ``columns_skip``, ``columns_most``: the range of the
    columns shown. ``points_most``: the most points of the chart.
    """

    body: Mapping[str, Any]
    skip: int = 0
    down: Sequence[str] = ()
    across: Sequence[str] = ()
    measure: str | None = None
    columns_skip: int = 0
    columns_most: int = 12
    points_most: int = 240

    def axes(self, definition: CubeDefinition) -> Axes:
        """Return the dimensions of rows and columns of the table. Raise CubeError if the names are not valid axes of
        the cube.
        """
        return Axes.of(self.down, self.across, definition.dimensions)

    def question(self, definition: CubeDefinition) -> dict[str, Any]:
        """Return the complete request body of the page's question, in the form that the API and the command line also
        accept.
        """
        own = {"by": self.axes(definition).sets(definition.dimensions), **self.body}
        drawn = self.drawn(definition)
        if self.across:
            return {**own, "measures": [drawn.text]}
        names = [measure.name for measure in definition.measures]
        return {**own, "measures": [*names, drawn.text]} if drawn.function else own

    def drawn(self, definition: CubeDefinition) -> AskedMeasure:
        """Return the measure that the chart draws. Raise CubeError if it is neither a declared measure nor a question
        function of a declared state.
        """
        return asked_measure(definition.measures[0].name if self.measure is None else self.measure, definition)

    def has_chart(self, layout: Layout) -> bool:
        """Return whether the measure can be drawn. Raise the same errors as :meth:`drawn`."""
        return is_number(layout.answered(self.drawn(layout.definition)))


@dataclass(frozen=True, slots=True)
class Look:
    """A pivot and a chart of a cube, from one commit.

    ``pivot``: the table. ``series``: the chart; None if the measure is not numeric, or if there are no cells.
    ``interval``, ``answered_by``: the fields of an answer with these names. ``facts``: the watermark, the gaps, the
    completeness and the commit of the answer. ``cursor``: the cursor for the rows after the last row shown.
    """

    layout: Layout
    question: Question
    axes: Axes
    pivot: Pivot
    measure: Answered
    series: Series | None
    interval: list[str] | None
    answered_by: Sequence[Mapping[str, Any]]
    facts: Mapping[str, Any]

    @property
    def cursor(self) -> str | None:
        """Return the cursor for the rows that follow. Return None if there are no more rows."""
        shown = self.question.skip + len(self.pivot.rows)
        return f"{self.facts['commit']}-{shown}" if shown < self.pivot.row_count else None


def look_at(
    layout: Layout,
    parts: Sequence[Part],
    question: Question,
    wanted: Wanted,
    *,
    points: Points | None,
    facts: Mapping[str, Any],
    reserve: Reserve,
) -> Look:
    """Return the content of a page from the cells of an interval. ``points``: the points of the chart; each consists of
    whole panes of the parts. It is None if there is no chart. ``reserve`` is called as in :meth:`Snapshot.query`.
    """
    axes, measure = wanted.axes(layout.definition), layout.answered(wanted.drawn(layout.definition))
    check_measures(layout, question)
    read = selected(parts, question, reserve)
    columns_skip, columns_most = wanted.columns_skip, wanted.columns_most
    pivot_table = pivot(
        layout, read, question, axes, columns_skip=columns_skip, columns_most=columns_most, reserve=reserve
    )
    drawn = None
    if points is not None:
        drawn = series(layout, read, question, measure, points, reserve=reserve)
    reserve(0)
    interval, source = interval_of(layout, parts, question), answered_by(layout, read)
    return Look(layout, question, axes, pivot_table, measure, drawn, interval, source, facts)
