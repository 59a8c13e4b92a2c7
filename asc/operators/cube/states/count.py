"""Counts of records and of values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from asc.operators.cube.states.kernels import add_counts, count_rows, count_values
from asc.operators.cube.states.memory import nulls_of, numbers, stored
from asc.operators.cube.states.state import Places, Rows, State, Values


class Count(State):
    """The number of values that are not NULL: int64, exact."""

    storage = pa.int64()
    type = pa.int64()

    def values(self, column: pa.Array) -> Values:
        """Return the mask of the NULL values. The values themselves are not needed for a count."""
        return Values(np.zeros(0, dtype=np.int64), nulls_of(column))

    def fold(self, values: Values | None, rows: Rows, cells: Places, count: int) -> pa.Array:
        """Return the count of each cell."""
        counts = np.zeros(count, dtype=np.int64)
        if values is None or not len(values.nulls):
            count_rows(cells, counts)
        else:
            count_values(rows, cells, values.nulls, counts)
        return stored(self.storage, counts)

    def merge(self, states: pa.Array, cells: Places, count: int) -> pa.Array:
        """Return the sums of counts by cell."""
        counts = np.zeros(count, dtype=np.int64)
        add_counts(numbers(states, np.int64), cells, counts)
        return stored(self.storage, counts)

    def answer(self, states: pa.Array) -> pa.Array:
        """Return the states unchanged: the state of a cell is its count."""
        return states


class RecordCount(Count):
    """The number of records: ``count(*)``."""

    takes_values = False
