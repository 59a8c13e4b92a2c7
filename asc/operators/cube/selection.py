"""The selection of the cells that a question reads: those in its interval and in its local hours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from asc.operators.cube.answer_memory import Reserve, held, unbounded
from asc.operators.cube.cells import Cells
from asc.operators.cube.local_hours import LocalHours
from asc.operators.cube.part import Part
from asc.operators.cube.question import Question

_WORK_BYTES = 17
"""The bytes of working memory for each cell when cells are selected by hours: whether it is selected, and its index."""


def selected(parts: Sequence[Part], question: Question, reserve: Reserve = unbounded) -> list[Part]:
    """Return for each part the cells in the question's interval and hours.

    ``reserve`` is called with the bytes of copies, and may raise an exception. Cost: without hours, nothing is copied.
    With hours, the hour of each pane is computed once, and the selected cells are copied.
    """
    # A question without a begin may begin within the first pane of a view. The whole pane is read, because the cube has
    # no earlier records, or has deleted them.
    first = question.first
    read = [
        part.between(None if first is None else first // part.view.panes * part.view.panes, question.end)
        for part in parts
    ]
    return read if question.hours is None else [_of_hours(part, question.hours, reserve) for part in read]


def _of_hours(part: Part, hours: LocalHours, reserve: Reserve) -> Part:
    """Return the cells of a part in some hours. Each pane of the part's view is in one hour, or in hours that are all
    selected.
    """
    panes = part.cells.different_panes()
    return replace(part, cells=_of_panes(part.cells, panes, hours.contains(panes), reserve))


def within(cells: Cells, segments: Sequence[tuple[int, int]], reserve: Reserve = unbounded) -> Cells:
    """Return the cells of the panes in ``segments``, which are ascending, disjoint, and at least one. ``reserve`` is
    called as in :func:`selected`.

    Cost: a search for each pane. For one segment, cells are not copied.
    """
    cells = cells.between(segments[0][0], segments[-1][1])
    if len(segments) == 1 or not cells.count:
        return cells
    firsts, ends = np.array(segments, dtype=np.int64).T
    panes = cells.different_panes()
    return _of_panes(cells, panes, panes < ends[np.searchsorted(firsts, panes, side="right") - 1], reserve)


def _of_panes(
    cells: Cells, panes: npt.NDArray[np.int64], is_selected: npt.NDArray[np.bool_], reserve: Reserve
) -> Cells:
    """Return the cells of the selected panes. ``panes``: the different panes of the cells. ``is_selected``: for each
    pane.
    """
    if is_selected.all():
        return cells
    with held(reserve, _WORK_BYTES * cells.count):
        counts = np.diff(np.append(np.searchsorted(cells.panes, panes), cells.count))
        rows = np.flatnonzero(np.repeat(is_selected, counts))
        reserve(cells.size_bytes * len(rows) // cells.count)
        return cells.take(rows)
