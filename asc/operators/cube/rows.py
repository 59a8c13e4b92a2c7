"""Rows of answers: groups and their measures as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.answer_memory import Reserve, held, ordering_bytes, rows_bytes, unbounded
from asc.operators.cube.answered import ordered_type, ordered_values
from asc.operators.cube.asked_measure import AskedMeasure
from asc.operators.cube.calendar import Calendar
from asc.operators.cube.cells import Cells
from asc.operators.cube.json_values import bound_text, instant_text, plain_values
from asc.operators.cube.keys import Codes, Key
from asc.operators.cube.layout import Layout
from asc.operators.cube.question import TIME, WINDOW, Question
from asc.spark_types import folded

_WINDOW_FIELDS = 2
"""The largest number of fields that the begin and end of a day or month add to a row, for the estimate of memory."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one cuboid. ``groups``: the number of all groups of the cuboid. ``overflows``: the number of sums
    that are NULL because they have over 38 digits.
    """

    rows: list[dict[str, Any]]
    groups: int
    overflows: int


def rows_of(
    layout: Layout,
    cells: Cells,
    columns: Sequence[int],
    question: Question,
    most: int,
    *,
    skip: int = 0,
    reserve: Reserve = unbounded,
) -> Rows:
    """Return the rows of the cells of one cuboid: at most ``most`` rows after the first ``skip`` rows.

    ``columns``: the indices of the dimensions that the cuboid groups by. If the question has a grain, the pane numbers
    of the cells are numbers of its intervals. ``reserve`` is called with the bytes of the rows before they are built,
    and may raise an exception. Cost: only the measures by which rows are ordered are computed for all cells; others for
    the returned rows.
    """
    if not cells.count and not columns and not question.has_intervals:
        cells = _of_nothing(layout)
    names = [layout.dimensions[place].sql for place in columns]
    ordered = [layout.answered(own.measure) for own in question.ordering if own.measure is not None]
    measures = [layout.answered(own) for own in question.measures]
    with held(reserve, ordering_bytes(cells, len(question.ordering), ordered)):
        order = order_of(layout, cells, names, question)
    start, stop = min(skip, cells.count), min(skip + most, cells.count)
    shown = cells.slice(start, stop) if order is None else cells.take(order[start:stop])
    reserve(rows_bytes(shown, measures, _WINDOW_FIELDS if question.calendar is not None else 0))
    groups = [plain_values(key.array()) for key in shown.keys]
    values = [plain_values(own.of(shown.states), is_integer=own.is_integer) if shown.count else [] for own in measures]
    measured = [own.name for own in measures]
    by_group = zip(*groups, strict=True) if groups else [()] * shown.count
    rows = [
        {"group": dict(zip(names, group, strict=True)), **dict(zip(measured, row, strict=True))}
        for group, row in zip(by_group, zip(*values, strict=True), strict=True)
    ]
    if question.calendar is not None:
        windows = _windows(layout, shown, question.calendar)
        rows = [{TIME: begin, WINDOW: [begin, end], **row} for (begin, end), row in zip(windows, rows, strict=True)]
    elif question.panes is not None:
        rows = [{TIME: begin, **row} for begin, row in zip(_begins(layout, shown, question.panes), rows, strict=True)]
    return Rows(rows, cells.count, sum(own.overflows(shown.states) for own in measures))


def check_measures(layout: Layout, question: Question) -> None:
    """Raise CubeError if a constant of a question function does not have the type of its column, or if rows are ordered
    by answers that have no order.
    """
    for measure in question.measures:
        layout.answered(measure)
    for ordering in question.ordering:
        if ordering.measure is not None and ordered_type(layout.answered(ordering.measure).type) is None:
            remedy = "has answers without an order: order by a count, by a number, or by a function of its state"
            raise CubeError("order", ordering.measure.name, remedy)


def _of_nothing(layout: Layout) -> Cells:
    """Return the cell of the cuboid without levels if no record was counted: counts of 0, and NULL for
    other measures.
    """
    none = frozen(np.zeros(0, dtype=np.int32))
    states = [slot.state.merge(pa.array([], slot.state.storage), none, 1) for slot in layout.slots]
    return Cells(frozen(np.zeros(1, dtype=np.int64)), (), tuple(states))


def _begins(layout: Layout, cells: Cells, panes: int) -> list[str]:
    """Return for each cell the start of its interval, as text."""
    assert layout.definition.grain_us is not None
    step_us = panes * layout.definition.grain_us
    texts = {number: bound_text(number * step_us) for number in np.unique(cells.panes).tolist()}
    return [texts[number] for number in cells.panes.tolist()]


def _windows(layout: Layout, cells: Cells, calendar: Calendar) -> list[tuple[str, str]]:
    """Return for each cell the begin and the end of its day or month, as texts."""
    assert layout.definition.grain_us is not None
    numbers = np.unique(cells.panes)
    bounds_us = [(own * layout.definition.grain_us).tolist() for own in map(calendar.begins, (numbers, numbers + 1))]
    texts = [map(instant_text, own_us) for own_us in bounds_us]
    by_number = dict(zip(numbers.tolist(), zip(*texts, strict=True), strict=True))
    return [by_number[number] for number in cells.panes.tolist()]


def order_of(layout: Layout, cells: Cells, names: Sequence[str], question: Question) -> npt.NDArray[np.int64] | None:
    """Return the order of rows: first by the question's order, then by time and group. Return None if the question has
    no order, because the cells are already sorted by time and group.
    """
    if not question.ordering:
        return None
    keys = {folded(name): key for name, key in zip(names, cells.keys, strict=True)}
    digits: list[npt.NDArray[np.int64] | Codes] = []
    for ordering in question.ordering:
        if ordering.name == TIME and TIME not in keys:
            digits.append(-cells.panes if ordering.is_descending else cells.panes)
            continue
        key = keys[ordering.name] if ordering.measure is None else _key_of(layout, cells, ordering.measure)
        digits.append(-key.codes if ordering.is_descending else key.codes)
    return np.lexsort(digits[::-1])


def _key_of(layout: Layout, cells: Cells, asked: AskedMeasure) -> Key:
    """Return the answers of a measure as a key, so that the codes can be sorted."""
    return Key.of(ordered_values(layout.answered(asked).of(cells.states)))
