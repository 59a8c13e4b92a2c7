"""Compiled loops of a stable counting sort by cell."""

from __future__ import annotations

from typing import Any

from asc.compiled import compiled

Array = Any


@compiled
def count_by_cell(nulls: Array, rows: Array, cells: Array, counts: Array) -> None:
    """Count the values of each cell that are not NULL. The count of cell c is added to ``counts[c + 1]``, so that a
    cumulative sum gives the position of each cell's first value.

    ``nulls`` bool: whether each value is NULL; empty if no value is NULL. ``rows``: the index of each value. ``cells``:
    the cell of each value.
    """
    for i in range(rows.size):
        if not nulls.size or not nulls[rows[i]]:
            counts[cells[i] + 1] += 1


@compiled
def place_by_cell(values: Array, nulls: Array, rows: Array, cells: Array, places: Array, out: Array) -> None:  # noqa: PLR0917
    """Write the values that are not NULL to ``out``, sorted by cell. ``places`` int64[cells]: the position for the next
    value of each cell in ``out``, initially for its first value.
    """
    for i in range(rows.size):
        row = rows[i]
        if not nulls.size or not nulls[row]:
            cell = cells[i]
            out[places[cell]] = values[row]
            places[cell] += 1


@compiled
def number_by_cell(cells: Array, places: Array, out: Array) -> None:
    """Write the index of each state to ``out``, sorted by cell. ``places``: as in :func:`place_by_cell`."""
    for i in range(cells.size):
        cell = cells[i]
        out[places[cell]] = i
        places[cell] += 1
