"""Cubes whose co-moments need no other compiled loops than those of the warm-up."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from asc.operators.cube.aggregates import OF_ONE_COLUMN, OF_TWO_COLUMNS
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition


def evaluate_kernels() -> int:
    """Fold columns of each type of number, with and without NULL, and ask all functions. Return the number of rows."""
    types = (pa.float64(), pa.float32(), pa.int64(), pa.int8(), pa.decimal128(9, 2), pa.decimal128(38, 3))
    numbers = [Decimal(number) for number in (1, 2, 7, 5)]
    columns = {f"c{place}": pa.array(numbers, pa.decimal128(9, 2)).cast(kind) for place, kind in enumerate(types)}
    rows = pa.table({"k": ["a", "a", "b", None], **columns, "n": [1.5, None, 2.5, 1.0]})
    measures = [f"stats({', '.join(columns)}, n)", "stats(c0, c1)", *(f"stddev({name})" for name in columns)]
    cube = Cube(CubeDefinition.parse({"dimensions": [["k"]], "measures": measures}, needs_time=False), rows.schema)
    for part in (rows, rows.slice(0, 1), rows.slice(1, 3)):
        cube.fold(part)
    asked = [f"{name}(n)" for name in OF_ONE_COLUMN]
    asked += [f"{name}(c0, n)" for name in OF_TWO_COLUMNS]
    asked += ["mean(n)", "bounds(n, 3)", "regression(n, c0, c1)"]
    return len(cube.query({"by": [["k"], []], "measures": [*measures, *asked], "order": ["corr(c0, n)"]})["rows"])
