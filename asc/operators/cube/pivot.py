"""Sections of pivot tables, with totals. The rows are the groups of one cuboid, and the columns are the groups of
another cuboid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from asc.errors import CubeError
from asc.operators.cube.answer_memory import Reserve, ordering_bytes, placing_bytes, unbounded
from asc.operators.cube.cuboid import Dimensions, Levels
from asc.operators.cube.grouping import Grouping
from asc.operators.cube.layout import Layout
from asc.operators.cube.part import Part
from asc.operators.cube.question import Question
from asc.operators.cube.rows import order_of, rows_of
from asc.operators.cube.source import Source, needed

Row = Mapping[str, Any]
"""A group and its measures, in the form of a row of an answer."""


@dataclass(frozen=True, slots=True)
class Axes:
    """The two cuboids of a pivot table. ``down``: the cuboid whose groups are the rows. ``across``: the cuboid whose
    groups are the columns. A cuboid without any level has no groups.

    Invariant: no hierarchy is in both cuboids.
    """

    down: Levels
    across: Levels

    @staticmethod
    def of(down: Sequence[str], across: Sequence[str], dimensions: Dimensions) -> Axes:
        """Return the axes with the cuboids that group by the named levels. Raise CubeError if a name is no dimension,
        or if both axes name the same hierarchy.
        """
        found = Axes(dimensions.cuboid_of(down), dimensions.cuboid_of(across))
        for place, hierarchy in enumerate(dimensions.hierarchies):
            if found.down[place] and found.across[place]:
                name = hierarchy[found.across[place] - 1]
                raise CubeError("across", name, "is of a dimension that the rows have: take one of another dimension")
        return found

    @property
    def both(self) -> Levels:
        """Return the cuboid of the cells, which groups by the levels of both axes."""
        return tuple(map(max, self.down, self.across))

    def sets(self, dimensions: Dimensions) -> list[list[str]]:
        """Return the grouping sets of a pivot table as names of levels: for its cells, its rows, its columns, and the
        total. Equal sets occur once.
        """
        none = tuple(0 for _ in self.down)
        own = dict.fromkeys((self.both, self.down, self.across, none))
        return [dimensions.levels_of(cuboid, range(len(cuboid))) for cuboid in own]


@dataclass(frozen=True, slots=True)
class Pivot:
    """A section of a pivot table.

    ``rows`` and ``columns``: the shown groups with their totals. The total of a row also includes the columns that are
    not shown, and vice versa. ``cells``: the cells by row index and column index. ``total``: the total of all groups.
    ``row_count``, ``column_count``: the numbers of all groups, including groups that are not shown. ``overflows``: the
    number of sums that are None because they have over 38 digits.
    """

    rows: list[dict[str, Any]]
    columns: list[dict[str, Any]]
    cells: Mapping[tuple[int, int], Row]
    total: Row
    row_count: int
    column_count: int
    overflows: int


def pivot(
    layout: Layout,
    read: Sequence[Part],
    question: Question,
    axes: Axes,
    *,
    columns_skip: int = 0,
    columns_most: int = 0,
    reserve: Reserve = unbounded,
) -> Pivot:
    """Return a section of a pivot table, computed from the cells of an interval.

    The question names the cuboids of ``axes``, and its skip, limit and order select the rows. The columns are in the
    order of their groups: ``columns_most`` columns are shown after the first ``columns_skip``. ``reserve`` is called as
    in :func:`answer`. Cost: that of an answer with these grouping sets, except that only the shown cells become rows.
    """
    dimensions = layout.definition.dimensions
    places = dimensions.columns(axes.both)
    fine = needed(layout, read, question, reserve).rolled_up(layout, places, reserve)
    down, across = (fine.rolled_up(layout, dimensions.columns(levels), reserve) for levels in (axes.down, axes.across))
    total = rows_of(layout, fine.rolled_up(layout, (), reserve).cells, (), question, 1, reserve=reserve)
    plain = replace(question, ordering=())
    rows = rows_of(layout, down.cells, down.columns, question, question.limit, skip=question.skip, reserve=reserve)
    overflows = rows.overflows + total.overflows
    columns: list[dict[str, Any]] = []
    cells: dict[tuple[int, int], Row] = {}
    if any(axes.across):
        across_rows = rows_of(
            layout, across.cells, across.columns, plain, columns_most, skip=columns_skip, reserve=reserve
        )
        columns = across_rows.rows
        ordered = [layout.answered(own.measure) for own in question.ordering if own.measure is not None]
        reserve(placing_bytes(fine.cells) + ordering_bytes(down.cells, len(question.ordering), ordered))
        order = order_of(layout, down.cells, [layout.dimensions[place].sql for place in down.columns], question)
        chosen = np.arange(down.cells.count) if order is None else order
        cells, over = _cells(
            layout,
            fine,
            _places(fine, down, chosen[question.skip : question.skip + question.limit]),
            _places(fine, across, np.arange(across.cells.count)[columns_skip : columns_skip + columns_most]),
            plain,
        )
        overflows += across_rows.overflows + over
    return Pivot(
        rows.rows,
        columns,
        cells,
        total.rows[0],
        rows.groups,
        across.cells.count if any(axes.across) else 0,
        overflows,
    )


def _places(fine: Source, side: Source, shown: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return for each of the ``fine`` cells the index of its group among the shown groups of a side, rows or columns;
    -1 if the group is not shown.
    """
    count = fine.cells.count
    if not count:
        return np.zeros(0, dtype=np.int64)
    keys = [fine.cells.keys[fine.columns.index(place)] for place in side.columns]
    # The cells of a side are sorted by their keys, and groups are numbered in the same order.
    groups = Grouping.of([(key.codes, key.radix) for key in keys], count)
    places = np.full(groups.count, -1, dtype=np.int64)
    places[shown] = np.arange(len(shown))
    return places[groups.cells]


def _cells(
    layout: Layout,
    fine: Source,
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    question: Question,
) -> tuple[dict[tuple[int, int], Row], int]:
    """Return the cells whose row and column are both shown, by row index and column index, and the number of their sums
    that have over 38 digits.
    """
    kept = np.flatnonzero((rows >= 0) & (columns >= 0))
    found = rows_of(layout, fine.cells.take(kept), fine.columns, question, len(kept))
    places = zip(rows[kept].tolist(), columns[kept].tolist(), strict=True)
    return dict(zip(places, found.rows, strict=True)), found.overflows
