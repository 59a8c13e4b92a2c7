"""Columns of a batch as Spark tasks provide them: with exact types, except for some values that arrive in another
form.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from asc.operators.cube.columns import Columns, repaired
from asc.operators.cube.operand import Operand
from asc.schema import Schema


class TaskColumns(Columns):
    """The expressions of cubes over the rows of one batch, computed by Spark. The name of each column is the SQL text
    of its operand.

    A boolean arrives as 0 or 1, and a time as microseconds. A value of which only NULL or not NULL matters arrives as
    any integer.
    """

    def __init__(self, batch: pa.RecordBatch) -> None:
        super().__init__(batch, Schema(pa.schema([])), "UTC")

    def _made(self, operand: Operand) -> pa.Array:
        column: Any = self._batch.column(operand.sql)
        if operand.type is None or pa.types.is_nested(operand.type):
            return column
        if pa.types.is_string(operand.type):
            return repaired(column)
        return column if column.type == operand.type else column.cast(operand.type)
