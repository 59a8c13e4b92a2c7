"""Declarations of distinct counts."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.kinds import distinct as kind
from asc.operators.cube.states import distinct as state


def cube(*measures: str) -> Cube:
    definition = CubeDefinition.parse({"dimensions": [["g"]], "measures": list(measures)}, needs_time=False)
    return Cube(definition, "g INT, s STRING, x INT, a ARRAY<INT>, t TIMESTAMP")


def table(count: int) -> pa.Table:
    numbers = list(range(count))
    columns = {"g": pa.array([number % 2 for number in numbers], pa.int32()), "s": [f"s{n % 30}" for n in numbers]}
    return pa.table({**columns, "x": pa.array(numbers, pa.int32()), "t": pa.array(numbers, pa.timestamp("us", "UTC"))})


def test_distinct_values_are_counted_by_group_and_over_all_groups() -> None:
    made = cube("distinct(s) AS s", "distinct(x, 14)", "distinct(t) FILTER (WHERE x < 5) AS t")
    made.fold(table(90))
    made.fold(table(60))
    rows = made.query({"by": [["g"], []], "order": ["s DESC"]})["rows"]
    numbers = [[row[name]["estimate"] for name in ("s", "distinct(x, 14)", "t")] for row in rows]
    assert numbers == [[15, 45, 3], [15, 45, 2], [30, 90, 5]]
    assert rows[0]["s"] == {"estimate": 15, "low": 15, "high": 15, "confidence": 0.9545}


def test_over_nothing_there_are_no_values() -> None:
    (row,) = cube("distinct(s) AS s").query({"by": []})["rows"]
    assert row["s"]["estimate"] == 0


def test_measures_of_one_parameter_share_a_state() -> None:
    made = cube("distinct(s) AS a", "distinct(s, 12) AS b", "distinct(s, 13) AS c")
    assert [slot.key for slot in made.layout.slots] == [("distinct", 12, "s"), ("distinct", 13, "s")]


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ("distinct(s, 7)", "has lg_k 7: give a whole number from 8 to 16"),
        (f"distinct(s, {kind.LG_K_MOST + 1})", "has lg_k 17: give a whole number from 8 to 16"),
        ("distinct(s, 'x')", "has lg_k 'x': give a whole number from 8 to 16"),
        ("distinct(s, x)", "has 'x', which is no constant: write distinct(x) or distinct(x, 12)"),
        ("distinct(*)", "takes the values of an expression: * goes with count alone"),
        ("distinct(a)", "takes values of a plain type, and a is ARRAY<INT>: CAST it"),
    ],
)
def test_a_declaration_is_refused(call: str, fault: str) -> None:
    with pytest.raises(CubeError) as refused:
        cube(call)
    assert fault in str(refused.value)
    assert str(refused.value).startswith("measure ")


def test_the_bounds_of_lg_k_are_those_of_the_state() -> None:
    assert (kind.LG_K_LEAST, kind.LG_K_DEFAULT, kind.LG_K_MOST) == (state.LG_K_LEAST, state.LG_K, state.LG_K_MOST)
