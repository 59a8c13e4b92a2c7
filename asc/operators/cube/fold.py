"""The fold of the records of a batch into cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from asc.frozen import frozen
from asc.operators.cube.cells import Cells
from asc.operators.cube.columns import Columns
from asc.operators.cube.grouping import Grouping
from asc.operators.cube.kernels import count_by_pane, gather
from asc.operators.cube.layout import Layout

KEY_BYTES_MAX = 4_096
"""The largest number of bytes of all texts and binary values of a group's key together."""

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """The result of a fold: the cells, and the numbers of records counted and excluded.

    ``time``: the number of records with an unusable time. ``too_large``: the number of records whose group's key is
    larger than KEY_BYTES_MAX. ``by_pane``: the number of counted records by pane number.
    """

    cells: Cells
    counted: int
    time: int = 0
    too_large: int = 0
    by_pane: Mapping[int, int] = field(default_factory=dict)


def folded(layout: Layout, columns: Columns, rows: _Ints | None = None) -> Folded:
    """Return the cells of some records of a batch. ``rows``: the ascending indices of the records; None means all
    records of the batch.
    """
    rows = np.arange(columns.count, dtype=np.int64) if rows is None else rows.astype(np.int64, copy=False)
    records = len(rows)
    if layout.time is not None:
        usable = columns.usable(layout.time)
        rows = rows if usable is None else rows[usable[rows]]
    timed = len(rows)
    keys = tuple(columns.key(operand) for operand in layout.dimensions)
    rows = _of_bounded_keys(layout, columns, rows)
    counted = len(rows)
    time, too_large = records - timed, timed - counted
    if not counted:
        return Folded(Cells.none(layout), 0, time, too_large)
    # The view is frozen, so that the caller's array stays writable.
    rows = frozen(rows.view())
    digits = [(key.codes, key.radix) for key in keys]
    panes = None
    if layout.time is not None and layout.definition.grain_us is not None:
        panes = columns.panes(layout.time, layout.definition.grain_us)
        digits.insert(0, (panes.codes, panes.radix))
    grouping = Grouping.of(digits, counted, rows)
    firsts = np.empty(grouping.count, dtype=np.int64)
    gather(rows, grouping.firsts, firsts)
    states = []
    for slot in layout.slots:
        states.append(slot.state.fold(slot.values(columns), rows, grouping.cells, grouping.count))
    own = np.zeros(grouping.count, dtype=np.int64)
    if panes is not None:
        gather(panes.numbers, frozen(firsts), own)
    cells = Cells(frozen(own), tuple(key.take(firsts) for key in keys), tuple(states))
    return Folded(cells, counted, time, too_large, _by_pane(own, grouping))


def _by_pane(panes: _Ints, grouping: Grouping) -> dict[int, int]:
    """Return the number of records by pane. ``panes``: the pane of each cell, ascending."""
    starts, counts = np.empty(len(panes), dtype=np.int32), np.empty(len(panes), dtype=np.int64)
    found = count_by_pane(panes, grouping.cells, starts, counts)
    return dict(zip(panes[starts[:found]].tolist(), counts[:found].tolist(), strict=True))


def _of_bounded_keys(layout: Layout, columns: Columns, rows: _Ints) -> _Ints:
    """Return the rows whose keys have at most KEY_BYTES_MAX bytes in total."""
    sizes = [(columns.key(operand), columns.sizes(operand)) for operand in layout.dimensions]
    if sum(own.longest for _, own in sizes) <= KEY_BYTES_MAX:
        return rows
    total = sum((own.by_code[key.codes[rows]] for key, own in sizes), np.zeros(len(rows), dtype=np.int64))
    return rows[total <= KEY_BYTES_MAX]
