"""The functions of measures: each can be parsed and computed."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.operators.cube.aggregates import FUNCTIONS, OF_TWO_COLUMNS
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition


@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_function_is_answered(function: str) -> None:
    arguments = "y, x" if function in OF_TWO_COLUMNS else "x"
    plain = {"dimensions": [["s"]], "measures": [f"{function}({arguments}) AS it"]}
    rows = pa.table({"s": ["a", "a", "b"], "x": [1.0, 3.0, None], "y": [1, 2, 5]})
    cube = Cube(CubeDefinition.parse(plain, needs_time=False), rows.schema)
    cube.fold(rows)
    cube.fold(rows)
    found = {row["group"]["s"]: row["it"] for row in cube.query({"by": ["s"]})["rows"]}
    assert found["a"] is not None
    assert found["b"] == (0 if function in ("count", "regr_count") else None)
