"""Answers to questions."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from asc.errors import AscError, CubeError
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition

SCHEMA = "origin STRING, dest STRING, carrier STRING, delay INT, month INT, ts TIMESTAMP"
PLAIN = {
    "dimensions": [["origin", "dest"], ["carrier"], ["year(ts)"]],
    "measures": ["count(*) AS flights", "sum(delay) AS delay", "max(delay) AS worst"],
    "time": "ts",
    "grain_s": 3_600,
}
BASE = ["origin", "dest", "carrier", "year(ts)"]
ROWS = [
    ("JFK", "BOS", "B6", 12, 0),
    ("JFK", "BOS", "UA", None, 0),
    ("JFK", "MIA", "B6", -12, 1),
    ("LGA", "BOS", None, 7, 1),
    (None, "BOS", "UA", 1, 2),
]


@pytest.fixture
def cube() -> Cube:
    found = Cube(CubeDefinition.parse(PLAIN), SCHEMA)
    names = ("origin", "dest", "carrier", "delay", "ts")
    rows = [dict(zip(names, (*row[:4], row[4] * 3_600_000_000), strict=True)) for row in ROWS]
    kinds = (pa.string(), pa.string(), pa.string(), pa.int32(), pa.timestamp("us", tz="UTC"))
    table = pa.Table.from_pylist(rows, pa.schema(list(zip(names, kinds, strict=True))))
    found.fold(table.append_column("year(ts)", pa.array([1970] * len(ROWS), pa.int32())))
    return found


def rows(cube: Cube, **body: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cube.query(body)["rows"]
    return found


def test_an_answer_has_all_that_it_is_about(cube: Cube) -> None:
    found = cube.query({"by": ["carrier"], "where": "origin = 'JFK'", "limit": 1})
    assert found == {
        "interval": ["1970-01-01T00:00:00Z", "1970-01-01T03:00:00Z"],
        "answered_by": [
            {"cuboid": ["origin", "dest", "carrier", "year(ts)"], "grain_s": 3_600, "panes": 3, "cells": 5}
        ],
        "groups": 2,
        "overflows": 0,
        "rows": [{"group": {"carrier": "B6"}, "flights": 2, "delay": 0, "worst": 12}],
        "roll_up": [{"by": [], "where": "origin = 'JFK'"}],
        "drill_down": [
            {"by": ["carrier", "origin"], "where": "origin = 'JFK'"},
            {"by": ["carrier", "year(ts)"], "where": "origin = 'JFK'"},
        ],
    }


def test_every_body_beside_can_be_posted(cube: Cube) -> None:
    found = cube.query({"by": ["carrier"], "where": "origin = 'JFK'"})
    for body in (*found["roll_up"], *found["drill_down"]):
        assert sum(row["flights"] for row in rows(cube, **body)) == 3


@pytest.mark.parametrize(
    ("where", "flights"),
    [
        ("carrier IS NULL", 1),
        ("NOT carrier = 'B6'", 2),
        ("origin = 'JFK' AND carrier <=> 'UA' OR dest LIKE 'M%'", 2),
        ("`year(ts)` = 1970", 5),
        ("`year(ts)` > 1970", 0),
        ("true", 5),
        ("1 = 2", 0),
        ("carrier = 'B6' AND carrier = 'UA'", 0),
    ],
)
def test_where_is_judged_on_groups(cube: Cube, where: str, flights: int) -> None:
    assert rows(cube, where=where)[0]["flights"] == flights


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("delay > 0", "where 'delay': is no dimension: name some of origin, dest, carrier, year(ts)"),
        ("upper(carrier) = 'B6'", "is no comparison of a dimension with constants"),
        ("carrier", "'carrier'"),
        ("carrier =", "syntax error"),
    ],
)
def test_another_where_is_refused_in_one_line(cube: Cube, where: str, said: str) -> None:
    with pytest.raises(AscError) as caught:
        cube.query({"where": where})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rows_are_ordered_and_as_many_as_wanted(cube: Cube) -> None:
    found = rows(cube, by=["carrier"], order=["delay DESC", "carrier"])
    assert [row["group"]["carrier"] for row in found] == [None, "UA", "B6"]
    found = rows(cube, by=["dest", "carrier"], order=["worst"])
    assert [row["worst"] for row in found] == [None, -12, 1, 7, 12]
    assert [row["worst"] for row in rows(cube, by=["dest", "carrier"], order=["worst DESC"], limit=2)] == [12, 7]
    assert rows(cube, by=["carrier"])[0]["group"] == {"carrier": None}


def test_the_limit_holds_for_all_cuboids_together(cube: Cube) -> None:
    found = cube.query({"by": [["carrier"], [], ["origin"]], "limit": 5})
    assert [list(row["group"]) for row in found["rows"]] == [["carrier"]] * 3 + [[], ["origin"]]
    assert found["groups"] == 7


def test_an_interval_has_the_panes_from_its_beginning_to_before_its_end(cube: Cube) -> None:
    hours = [f"1970-01-01T0{hour}:00:00Z" for hour in range(4)]
    assert rows(cube, **{"from": hours[1]})[0]["flights"] == 3
    assert rows(cube, to=hours[1])[0]["flights"] == 2
    assert rows(cube, **{"from": hours[1], "to": hours[2]})[0]["flights"] == 2
    found = cube.query({"by": ["carrier"], "from": hours[3]})
    assert (found["rows"], found["interval"], found["groups"]) == ([], None, 0)
    assert found["answered_by"][0]["cells"] == 0


def test_sums_of_over_38_digits_are_null_and_counted() -> None:
    plain = {"dimensions": [["s"]], "measures": ["sum(d) AS total", "count(*) AS n"]}
    cube = Cube(CubeDefinition.parse(plain, needs_time=False), "s STRING, d DECIMAL(38,0)")
    most = pa.array([Decimal(10**38 - 1)] * 3, pa.decimal128(38, 0))
    cube.fold(pa.table({"s": ["a", "a", "b"], "d": most}))
    found = cube.query({"by": [["s"], []]})
    assert [row["total"] for row in found["rows"]] == [None, str(10**38 - 1), None]
    assert found["overflows"] == 2
    assert cube.query({"by": [["s"], []], "measures": ["n"]})["overflows"] == 0


def test_measures_are_chosen(cube: Cube) -> None:
    assert rows(cube, measures=["worst"]) == [{"group": {}, "worst": 12}]
    with pytest.raises(CubeError, match="measure 'mean': is not declared"):
        cube.query({"measures": ["mean"]})


def test_a_cube_without_dimensions_and_time() -> None:
    plain = {"measures": ["count(*) AS n"]}
    cube = Cube(CubeDefinition.parse(plain, needs_time=False), "a INT")
    cube.fold(pa.table({"a": pa.array([1, 2], pa.int32())}))
    found = cube.query({})
    assert (found["rows"], found["interval"]) == ([{"group": {}, "n": 2}], None)
    assert (found["roll_up"], found["drill_down"]) == ([], [])
