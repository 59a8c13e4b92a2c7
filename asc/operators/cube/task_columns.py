"""The columns of a batch as Spark sends them to Python workers. Most have the types of the cube; booleans and times are
integers.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from asc.operators.cube.columns import Columns, repaired
from asc.operators.cube.operand import Operand
from asc.schema import Schema


class TaskColumns(Columns):
    """The expressions of cubes over the rows of one batch, as Spark sends them to a Python worker.

    Spark has computed each expression, and the batch has a column for it, with the SQL text as its name. A boolean is
    an integer, 0 or 1. A time is an integer of microseconds. For ``count(x)``, which only needs to know whether x is
    NULL, an arbitrary integer replaces each value.
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
