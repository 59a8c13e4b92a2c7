"""The regions that a batch of tuples visits, computed once for all blocks of a plan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import PlanError
from asc.keys.column import NO_CONSTANTS, Column, column
from asc.keys.grid import Grid, Keys
from asc.keys.key_kernels import regions_by_cells, regions_by_table
from asc.plan.plan import Plan

RegionIds = npt.NDArray[np.uint16]


def region_ids(plan: Plan, columns: Sequence[pa.Array | pa.ChunkedArray | None], rows: int) -> RegionIds:
    """Return the region of every tuple in the construct of every p-attribute, uint16[slots, rows]. The NULL region is
    the last.

    ``columns`` are in the order of ``plan.p_attributes``. If a column is None, its values are unknown, and its row of
    the result is all zeros. Raise PlanError for a column of the wrong type or length.
    """
    _check_number(plan, columns)
    found = np.zeros((len(plan.p_attributes), rows), dtype=np.uint16)
    keys = np.empty(rows, dtype=np.int64)
    for slot, values in enumerate(columns):
        if values is not None:
            write_regions(plan.grids[slot], _column(plan, slot, values, rows), 0, keys, found[slot])
    return found


def columns_of(plan: Plan, columns: Sequence[pa.Array | pa.ChunkedArray], rows: int) -> list[Column]:
    """Return the columns of a batch in the form from which the evaluation computes keys, in the order of
    ``plan.p_attributes``. Raise PlanError if the columns do not fit the plan.
    """
    _check_number(plan, columns)
    return [_column(plan, slot, values, rows) for slot, values in enumerate(columns)]


def write_regions(grid: Grid, values: Column, start: int, keys: Keys, regions: RegionIds) -> bool:
    """Write the keys and the regions of the rows from ``start`` on into two arrays, until the arrays are full.

    ``grid``: the regions of the p-attribute with these values. Return True if some of the values may be NULL, and False
    if certainly none is.
    """
    if grid.is_matched:
        nulls = values.nulls(start, start + len(keys))
        regions[:] = 0 if nulls is None else np.where(nulls, grid.null_region, 0)
        return nulls is not None
    nulls = values.keys(start, start + len(keys), keys)
    if grid.shift == 0:
        regions_by_table(keys, grid.origin, grid.table, regions)
    else:
        regions_by_cells(keys, grid.boundaries, grid.origin, grid.shift, grid.table, regions)
    if nulls is not None:
        regions[nulls] = grid.null_region
    return nulls is not None


def _check_number(plan: Plan, columns: Sequence[object]) -> None:
    if len(columns) != len(plan.p_attributes):
        raise PlanError("number of columns", len(columns), f"the plan has {len(plan.p_attributes)} p-attributes")


def _column(plan: Plan, slot: int, values: pa.Array | pa.ChunkedArray | None, rows: int) -> Column:
    attribute = plan.p_attributes[slot]
    if values is None:
        raise PlanError("column", attribute.sql, "is missing: every p-attribute needs its values")
    if len(values) != rows:
        raise PlanError(f"length of column {attribute.sql}", len(values), f"the batch has {rows} rows")
    dictionary = NO_CONSTANTS if attribute.is_matched else plan.dictionaries.get(slot, NO_CONSTANTS)
    return column(attribute, dictionary, values)
