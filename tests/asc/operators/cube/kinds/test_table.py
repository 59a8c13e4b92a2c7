"""The table of the kinds of measures: each function can be parsed and computed."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.aggregates import OF_TWO_COLUMNS
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.kinds.table import ENTRIES, Entry, asked_by, declared_by

DECLARED = [function for entry in ENTRIES for function in entry.declares]
ARGUMENTS = {**dict.fromkeys((*OF_TWO_COLUMNS, "stats"), "y, x"), "seen": "x, 10"}
"""The arguments of functions that do not take one column."""
EMPTY = {"seen": {"values": 0, "different": 0, "chance": 0.0}, "frequent": {"values": 0, "bound": 0, "items": []}}
EMPTY_COUNTS = dict.fromkeys(("count", "regr_count"), 0)
"""The answers of functions over no value, other than NULL."""
ROWS = pa.table({"s": ["a", "a", "b"], "x": [1.0, 3.0, None], "y": [1, 2, 5]})


def cube(measures: list[str]) -> Cube:
    found = Cube(CubeDefinition.parse({"dimensions": [["s"]], "measures": measures}, needs_time=False), ROWS.schema)
    found.fold(ROWS)
    found.fold(ROWS)
    return found


@pytest.mark.parametrize("function", DECLARED)
def test_each_function_is_answered(function: str) -> None:
    rows = cube([f"{function}({ARGUMENTS.get(function, 'x')}) AS it"]).query({"by": ["s"]})["rows"]
    found = {row["group"]["s"]: row["it"] for row in rows}
    assert found["a"] is not None
    if function == "distinct":
        assert found["b"]["estimate"] == 0
    elif function != "stats":
        assert found["b"] == {**EMPTY, **EMPTY_COUNTS}.get(function)


@pytest.mark.parametrize("function", ["var_pop", "corr", "regr_slope"])
def test_a_question_function_has_the_answer_of_the_declared_measure(function: str) -> None:
    arguments = "y, x" if function in OF_TWO_COLUMNS else "x"
    asked = cube(["stats(x, y)"]).query({"by": ["s"], "measures": [f"{function}({arguments}) AS it"]})["rows"]
    assert asked == cube([f"{function}({arguments}) AS it"]).query({"by": ["s"]})["rows"]


def test_no_function_has_two_kinds() -> None:
    assert len(set(DECLARED)) == len(DECLARED)
    asked = [function for entry in ENTRIES for function in entry.answers]
    assert len(set(asked)) == len(asked)
    assert all(declared_by(function) is not None for function in DECLARED)
    assert all(asked_by(function) is not None for function in asked)
    assert declared_by("median") is asked_by("median") is None


def test_a_kind_whose_package_is_missing_is_refused_in_one_line() -> None:
    entry = Entry("counts", ("count",), "count", package="no_such_package", missing="needs a package: install it")
    with pytest.raises(CubeError, match=r"^measure 'count\(x\)': needs a package: install it$"):
        entry.check_package("count(x)")
    # Its definitions can be read all the same.
    assert entry.kind.takes_records
    Entry("counts", ("count",), "count", package="pyarrow").check_package("count(x)")
