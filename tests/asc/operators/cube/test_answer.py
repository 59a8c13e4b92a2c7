"""Answers to questions."""

from __future__ import annotations

from decimal import Decimal
from itertools import compress, product
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from asc.errors import AscError, CubeError
from asc.operators.cube.answer_memory import Reserve
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.json_values import instant_text
from asc.operators.cube.layout import Layout
from asc.operators.cube.source import Source

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
        ("delay > 0", "where 'delay': is no dimension: name some of origin, dest, carrier, `year(ts)`"),
        ("year(ts) = 1970", "where 'ts': is no dimension: write `year(ts)` in backquotes"),
        ("Year( ts ) = 1970", "where 'ts': is no dimension: write `year(ts)` in backquotes"),
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


@pytest.mark.parametrize(
    ("where", "name", "meant"),
    [
        ("place.name IS NULL", "place.name", "`place.name`"),
        ("tags[0] = 'a'", "tags", "`tags[0]`"),
        ("attrs['k'] = 'a'", "attrs", "`attrs['k']`"),
        ("date_trunc('HOUR', ts) > TIMESTAMP '2013-07-10'", "ts", "`date_trunc('HOUR', ts)`"),
        # A name alone may be of several; one that the predicate contains is meant.
        ("ts > TIMESTAMP '2013-07-10'", "ts", "`year(ts)`"),
        ("upper(carrier) = 'B6'", "upper(carrier)", "`upper(carrier)`"),
        ("qty > 3", "qty", "`(qty > 3)`"),
    ],
)
def test_a_dimension_that_is_an_expression_is_named_in_backquotes(where: str, name: str, meant: str) -> None:
    schema = "place STRUCT<name: STRING>, tags ARRAY<STRING>, attrs MAP<STRING, STRING>, carrier STRING, qty INT"
    dimensions = ["place.name", "tags[0]", "attrs['k']", "year(ts)", "date_trunc('HOUR', ts)", "upper(carrier)"]
    plain = {
        **PLAIN,
        "dimensions": [[each] for each in (*dimensions, "carrier", "(qty > 3)")],
        "measures": ["count(*)"],
    }
    nest = Cube(CubeDefinition.parse(plain), f"{schema}, ts TIMESTAMP")
    with pytest.raises(AscError) as caught:
        nest.query({"where": where})
    said = str(caught.value)
    assert said.startswith("where ")
    assert said.endswith(f": is no dimension: write {meant} in backquotes")
    assert repr(name)[1:-1] in said
    # As it is shown it can be asked.
    assert nest.query({"where": f"{meant} IS NULL"})["rows"] == [{"group": {}, "count(*)": 0}]


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


def test_each_cuboid_is_made_of_the_smallest_finer_one_and_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"c{place}" for place in range(6)]
    cube = Cube(
        CubeDefinition.parse({"dimensions": [[own] for own in names], "measures": ["count(*) AS n"]}, needs_time=False),
        ", ".join(f"{own} INT" for own in names),
    )
    cube.fold(
        pa.table(
            {own: pa.array([row % (2 + place) for row in range(60)], pa.int32()) for place, own in enumerate(names)}
        )
    )
    by = [list(compress(names, bits)) for bits in product((0, 1), repeat=6)]
    merged_counts, counted = [], 0

    def count(source: Source) -> int:
        nonlocal counted
        counted += 1
        return sum(part.count for part in source.parts)

    def rolled_up(source: Source, layout: Layout, columns: tuple[int, ...], reserve: Reserve) -> Source:
        merged_counts.append(sum(part.count for part in source.parts))
        return roll_up(source, layout, columns, reserve)

    roll_up = Source.rolled_up
    monkeypatch.setattr(Source, "count", property(count))
    monkeypatch.setattr(Source, "rolled_up", rolled_up)
    found = cube.query({"by": by, "limit": 100_000})["rows"]
    # The groups of all are those of each cuboid asked alone.
    assert counted <= 2 * len(by)
    monkeypatch.undo()
    assert found == [row for own in by for row in cube.query({"by": own, "limit": 100_000})["rows"]]
    # () is made of the two groups of c0, and of no more.
    assert merged_counts[-1] == 2


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


def test_with_a_grain_there_are_rows_for_each_interval_that_has_a_record(cube: Cube) -> None:
    assert rows(cube, grain_s=3_600, measures=["flights"]) == [
        {"pane": "1970-01-01T00:00:00Z", "group": {}, "flights": 2},
        {"pane": "1970-01-01T01:00:00Z", "group": {}, "flights": 2},
        {"pane": "1970-01-01T02:00:00Z", "group": {}, "flights": 1},
    ]
    found = cube.query({"by": ["origin"], "grain_s": 7_200.0, "measures": ["flights"]})
    assert found["rows"] == [
        {"pane": "1970-01-01T00:00:00Z", "group": {"origin": "JFK"}, "flights": 3},
        {"pane": "1970-01-01T00:00:00Z", "group": {"origin": "LGA"}, "flights": 1},
        {"pane": "1970-01-01T02:00:00Z", "group": {"origin": None}, "flights": 1},
    ]
    assert (found["interval"], found["groups"]) == (["1970-01-01T00:00:00Z", "1970-01-01T04:00:00Z"], 3)
    # The steps beside it are of the same grain.
    for body in (*found["roll_up"], *found["drill_down"]):
        assert sum(row["flights"] for row in rows(cube, **body)) == 5
        assert {row["pane"] for row in rows(cube, **body)} == {"1970-01-01T00:00:00Z", "1970-01-01T02:00:00Z"}
    # Over nothing there is no interval, and so no row of all records.
    assert rows(cube, grain_s=3_600, where="carrier = 'XX'") == []
    assert rows(cube, grain_s=3_600, **{"from": "1971-01-01"}) == []


def test_rows_of_intervals_are_ordered_by_time_too(cube: Cube) -> None:
    def rows_of(**body: Any) -> list[tuple[Any, ...]]:
        found = rows(cube, by=["carrier"], grain_s=7_200, measures=["flights"], **body)
        return [(row["pane"][11:13], row["group"]["carrier"], row["flights"]) for row in found]

    first, second, third, fourth = ("00", None, 1), ("00", "B6", 2), ("00", "UA", 1), ("02", "UA", 1)
    assert rows_of() == [first, second, third, fourth]
    assert rows_of(order=["pane DESC"]) == [fourth, first, second, third]
    assert rows_of(order=["carrier DESC", "PANE desc"]) == [fourth, third, second, first]
    assert rows_of(order=["flights DESC", "pane DESC"], limit=2) == [second, fourth]
    with pytest.raises(CubeError, match="order 'pane': give a list"):
        cube.query({"order": ["pane"]})


GRAINS_S = (60, 900, 3_600, 10_800, 86_400)


@settings(max_examples=40, phases=(Phase.generate,), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    records=st.lists(
        st.tuples(
            st.sampled_from(["B6", "UA", None]),
            st.sampled_from(["JFK", "LGA"]),
            st.integers(-(2**40), 2**40) | st.none(),
            st.integers(-2 * 86_400, 2 * 86_400),
        ),
        min_size=1,
        max_size=60,
    ),
    grain=st.sampled_from(GRAINS_S),
    factor=st.sampled_from(GRAINS_S),
    sets=st.lists(st.sampled_from([(), ("carrier",), ("carrier", "origin")]), min_size=1, max_size=3, unique=True),
    bounds=st.none() | st.tuples(st.integers(-40, 40), st.integers(1, 40)),
)
def test_rows_of_intervals_are_those_of_duckdb(
    records: list[tuple[str | None, str, int | None, int]],
    grain: int,
    factor: int,
    sets: list[tuple[str, ...]],
    bounds: tuple[int, int] | None,
) -> None:
    grain_s = max(grain, factor)
    grain = min(grain, factor)
    measures = {"n": "count(*)", "total": "sum(delay)", "most": "max(delay)", "mean": "avg(delay)"}
    plain = {"dimensions": [["carrier"], ["origin"]], "time": "ts", "grain_s": grain}
    plain["measures"] = [f"{sql} AS {name}" for name, sql in measures.items()]
    cube = Cube(CubeDefinition.parse(plain), "carrier STRING, origin STRING, delay BIGINT, ts TIMESTAMP")
    kinds = {"carrier": pa.string(), "origin": pa.string(), "delay": pa.int64(), "ts": pa.timestamp("us", "UTC")}
    columns = zip(kinds.items(), zip(*records, strict=True), strict=True)
    table = pa.table(
        {
            name: pa.array([own * 1_000_000 for own in values] if name == "ts" else values, kind)
            for (name, kind), values in columns
        }
    )
    for start in range(0, len(records), 25):
        cube.fold(table.slice(start, 25))
    body: dict[str, Any] = {"by": sets, "grain_s": grain_s, "limit": 100_000}
    first_s, end_s = -(10**9), 10**9
    if bounds is not None:
        first_s, end_s = bounds[0] * grain_s, (bounds[0] + bounds[1]) * grain_s
        body |= {"from": instant_text(first_s * 1_000_000), "to": instant_text(end_s * 1_000_000)}
    found = cube.query(body)
    expected = []
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("records", table)
        for own in sets:
            names = "".join(f", {name}" for name in own)
            order = "".join(f", {name} NULLS FIRST" for name in own)
            sql = f"""SELECT epoch_us(time_bucket(INTERVAL '{grain_s} seconds', ts)) AS pane{names},
                {", ".join(measures.values())} FROM records
                WHERE epoch(ts) >= {first_s} AND epoch(ts) < {end_s} GROUP BY ALL ORDER BY pane{order}"""
            for pane, *values in connection.execute(sql).fetchall():
                n, total, most, mean = values[len(own) :]
                group = dict(zip(own, values, strict=False))
                sums = {"n": n, "total": None if total is None else int(total), "most": most, "mean": mean}
                expected.append({"pane": instant_text(pane), "group": group, **sums})
    assert len(found["rows"]) == found["groups"] == len(expected)
    for row, own in zip(found["rows"], expected, strict=True):
        mean, other = row.pop("mean"), own.pop("mean")
        assert row == own
        assert (mean is None and other is None) or mean == pytest.approx(other)
    # Pages are parts of the same rows, of whichever cuboid.
    page = cube.query({**body, "limit": 1 + len(expected) // 2})["rows"]
    assert page == cube.query(body)["rows"][: len(page)]
