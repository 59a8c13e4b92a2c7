"""Attributes of look-ups in questions, against DuckDB's LEFT JOIN with the groups of the keys."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.answer_memory import unbounded
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.looked_up import LookedUp
from asc.operators.cube.lookup import Lookup
from asc.operators.cube.part import Part

PLANES = pa.table(
    {
        "tailnum": ["N1", "N2", "N3"],
        "manufacturer": ["BOEING", "AIRBUS", None],
        "seats": pa.array([180, 150, 4], pa.int32()),
    }
)
AIRLINES = pa.table({"carrier": ["B6", "UA"], "name": ["JetBlue", "United"]})
FLIGHTS = pa.table(
    {
        "tailnum": ["N1", "N1", "N2", "N3", "N9", None, "N2"],
        "carrier": ["B6", "UA", "B6", "UA", "B6", "B6", "XX"],
        "delay": pa.array([1, 2, 4, 8, 16, 32, 64], pa.int32()),
    }
)


def cube_of(table: pa.Table, dimensions: list[list[str]], schema: str, measures: list[str]) -> Cube:
    definition = CubeDefinition.parse({"dimensions": dimensions, "measures": measures}, needs_time=False)
    cube = Cube(definition, schema)
    cube.fold(table)
    return cube


@pytest.fixture
def cube() -> Cube:
    schema, measures = "tailnum STRING, carrier STRING, delay INT", ["count(*) AS n", "sum(delay) AS d"]
    return cube_of(FLIGHTS, [["tailnum"], ["carrier"]], schema, measures)


LOOKUPS = {"planes": Lookup.of("planes", PLANES, "tailnum"), "airlines": Lookup.of("airlines", AIRLINES, "carrier")}


def rows(cube: Cube, lookups: Any = LOOKUPS, **body: Any) -> list[tuple[Any, ...]]:
    found = cube.query(body, lookups)["rows"]
    return [(*row["group"].values(), *(value for name, value in row.items() if name != "group")) for row in found]


def test_cells_are_grouped_by_an_attribute_of_their_key(cube: Cube) -> None:
    assert rows(cube, by=["planes.manufacturer"]) == [(None, 3, 56), ("AIRBUS", 2, 68), ("BOEING", 2, 3)]
    found = cube.query({"by": [["planes.manufacturer"], []]}, LOOKUPS)
    assert found["answered_by"] == [{"cuboid": ["tailnum", "carrier"], "grain_s": None, "panes": 1, "cells": 7}]
    assert found["rows"][-1] == {"group": {}, "n": 7, "d": 127}


def test_attributes_of_several_look_ups_and_dimensions_are_grouped_together(cube: Cube) -> None:
    assert rows(cube, by=["carrier", "airlines.name", "Planes.SEATS"], order=["d DESC"], limit=3) == [
        ("XX", None, 150, 1, 64),
        ("B6", "JetBlue", None, 2, 48),
        ("UA", "United", 4, 1, 8),
    ]
    assert rows(cube, by=["planes.manufacturer", "planes.seats"], order=["planes.seats DESC"], limit=1) == [
        ("BOEING", 180, 2, 3)
    ]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("planes.manufacturer = 'BOEING'", [(2, 3)]),
        ("`planes`.Seats < 160 AND carrier = 'B6'", [(1, 4)]),
        ("`planes.seats` IN (4, 180) OR airlines.name IS NULL", [(4, 75)]),
        ("planes.manufacturer IS NULL", [(3, 56)]),
        ("planes.manufacturer LIKE 'A%' AND tailnum <> 'planes.x'", [(2, 68)]),
        ("NOT planes.manufacturer = 'BOEING'", [(2, 68)]),
    ],
)
def test_where_reads_attributes_as_fields_of_a_struct(cube: Cube, where: str, expected: list[Any]) -> None:
    assert rows(cube, where=where) == expected


def test_the_questions_beside_it_name_the_attribute(cube: Cube) -> None:
    found = cube.query({"by": ["planes.manufacturer"], "where": "planes.seats > 4"}, LOOKUPS)
    assert [own["by"] for own in found["roll_up"]] == [[]]
    assert [own["by"] for own in found["drill_down"]] == [
        ["planes.manufacturer", "tailnum"],
        ["planes.manufacturer", "carrier"],
        ["planes.manufacturer", "planes.seats"],
    ]
    for own in found["roll_up"] + found["drill_down"]:
        assert cube.query(own, LOOKUPS)["rows"]


def test_another_table_changes_the_answer_over_the_same_cells(cube: Cube) -> None:
    changed = PLANES.set_column(1, "manufacturer", pa.array(["EMBRAER", "AIRBUS", "AIRBUS"]))
    lookups = {"planes": Lookup.of("planes", changed, "tailnum", version=1)}
    assert rows(cube, lookups, by=["planes.manufacturer"]) == [(None, 2, 48), ("AIRBUS", 3, 76), ("EMBRAER", 2, 3)]
    before, after = (LookedUp.of(cube.layout, ["planes.seats"], None, own) for own in (LOOKUPS, lookups))
    assert before.identity != after.identity


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"by": ["plans.seats"]}, "by 'plans.seats': is no dimension, and no look-up is named 'plans'"),
        (
            {"by": ["Planes"]},
            "by 'Planes': is a look-up with the attributes manufacturer, seats: name some of them, as planes.",
        ),
        ({"by": ["planes.engine"]}, "attribute 'planes.engine': is none: the look-up has manufacturer, seats"),
        ({"where": "planes.engine = 1"}, "attribute 'planes.engine': is none: the look-up has manufacturer, seats"),
        ({"where": "plans.seats = 1"}, "where 'plans.seats': is no dimension"),
        ({"by": ["days.name"]}, "look-up 'days': has the key day, and the cube has tailnum, carrier"),
        ({"where": "days.name = 'x'"}, "look-up 'days': has the key day, and the cube has tailnum, carrier"),
        ({"where": "planes.seats + 1 = 5 AND planes.manufacturer = carrier"}, "is no comparison of a dimension"),
        ({"by": ["carrier.name"]}, "look-up 'carrier': is named like a dimension of the cube"),
        ({"by": ["wide.seats"]}, "key 'tailnum': is BIGINT in look-up 'wide', and STRING in the cube"),
        ({"by": ["airlines.d"]}, "attribute 'airlines.d': is none"),
        ({"by": ["planes.seats", "Planes.Seats"]}, "has a dimension twice"),
    ],
)
def test_a_question_is_refused_in_one_line(cube: Cube, body: dict[str, Any], said: str) -> None:
    days = pa.table({"day": [1], "name": ["x"]})
    lookups = {
        **LOOKUPS,
        "days": Lookup.of("days", days, "day"),
        "carrier": Lookup.of("carrier", AIRLINES, "carrier"),
        "wide": Lookup.of("wide", pa.table({"tailnum": [1], "seats": [2]}), "tailnum"),
    }
    with pytest.raises(CubeError) as refused:
        cube.query(body, lookups)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_attribute_that_is_named_like_a_dimension_is_refused_and_the_dimension_is_asked_for() -> None:
    table = pa.table({"tailnum": ["N1", "N2"], "planes": [{"seats": 1}, {"seats": 2}]})
    dimensions = [["tailnum"], ["planes.seats"]]
    cube = cube_of(table, dimensions, "tailnum STRING, planes STRUCT<seats: INT>", ["count(*) AS n"])
    assert rows(cube, by=["planes.seats"]) == [(1, 1), (2, 1)]
    assert rows(cube, where="`planes.seats` = 2") == [(1,)]
    with pytest.raises(CubeError, match=r"attribute 'planes\.seats': is named like a dimension of the cube: rename"):
        rows(cube, where="planes.seats = 2")
    assert rows(cube, by=["planes.manufacturer"], where="`planes.seats` = 2") == [("AIRBUS", 1)]


def test_the_memory_of_the_keys_is_reserved(cube: Cube) -> None:
    held: list[int] = []
    seen = LookedUp.of(cube.layout, ["planes.manufacturer"], None, LOOKUPS)
    base = [Part.base(cube.layout, cube.cells)]
    parts = seen.parts(base, held.append)
    assert [part.count for part in parts] == [7]
    assert max(held) > 0
    assert sum(held) >= 4 * 7
    assert [part.cells.keys[2].array().to_pylist() for part in parts] == [
        part.cells.keys[2].array().to_pylist() for part in seen.parts(base, unbounded)
    ]


TEXTS = st.sampled_from(["", "a", "ä", "Z", "日本", "\U0001f600", "NaN", "null"])
DOUBLES = st.sampled_from([0.0, -0.0, 1.5, math.nan, math.inf, -math.inf, 5e-324])
KINDS = {"STRING": (TEXTS, pa.string(), "k"), "DOUBLE": (DOUBLES, pa.float64(), "k + 0")}
"""The types of a key: its values, and SQL in which DuckDB's join does not distinguish -0.0 from 0.0."""


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(data=st.data())
def test_answers_equal_a_left_join_at_query_time(kind: str, data: st.DataObject) -> None:
    values, arrow, k = KINDS[kind]
    records = data.draw(st.lists(st.tuples(st.none() | values, st.sampled_from(["x", None])), max_size=30))

    def same(value: Any) -> Any:
        return "nan" if isinstance(value, float) and math.isnan(value) else value

    table = data.draw(
        st.lists(
            st.tuples(values, st.none() | TEXTS, st.none() | DOUBLES),
            min_size=1,
            max_size=6,
            unique_by=lambda row: same(row[0]),
        )
    )
    folded = pa.table(
        {"k": pa.array([row[0] for row in records], arrow), "c": pa.array([row[1] for row in records], pa.string())}
    )
    looked = pa.table(
        {
            "k": pa.array([row[0] for row in table], arrow),
            "a": pa.array([row[1] for row in table], pa.string()),
            "b": pa.array([row[2] for row in table], pa.float64()),
        }
    )
    cube = cube_of(folded, [["k"], ["c"]], f"k {kind}, c STRING", ["count(*) AS n"])
    lookups = {"t": Lookup.of("t", looked, "k")}
    found = rows(cube, lookups, by=["c", "t.a", "t.b"], limit=100_000)
    joined = f"(SELECT {k} AS k, c FROM folded) LEFT JOIN (SELECT {k} AS k, a, b + 0 AS b FROM looked) USING (k)"
    with duckdb.connect() as connection:
        connection.register("folded", folded)
        connection.register("looked", looked)
        expected = connection.sql(f"SELECT c, a, b, count(*) FROM {joined} GROUP BY ALL").fetchall()
        accepted = connection.sql(f"SELECT count(*) FROM {joined} WHERE a >= 'a' OR b < 1").fetchall()
    assert sorted(map(repr, map(plain, found))) == sorted(map(repr, map(plain, expected)))
    # The engine and DuckDB agree that NaN is the greatest value.
    assert rows(cube, lookups, where="t.a >= 'a' OR t.b < 1") == accepted


def plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row with each double as a text, because answers give NaN and infinity as texts."""
    names = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
    c, a, b, n = row
    return c, a, names.get(b, b) if isinstance(b, str) else None if b is None else str(float(b) + 0), n
