"""Cubes against DuckDB: every cuboid and measure over random tables, however they are cut and merged."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.json_values import instant_text, plain_values
from asc.operators.cube.piece import Piece

UTC = timezone.utc
WIDE = Context(prec=100)
HOUR_US = 3_600_000_000
SCHEMA = pa.schema(
    [
        ("s", pa.string()),
        ("b", pa.bool_()),
        ("f", pa.float64()),
        ("day", pa.date32()),
        ("bin", pa.binary()),
        ("dec", pa.decimal128(38, 4)),
        ("ts", pa.timestamp("us", tz="UTC")),
        ("i", pa.int64()),
        ("small", pa.int8()),
        ("x", pa.float64()),
        ("t", pa.timestamp("us", tz="UTC")),
    ]
)
FLOATS = [0.0, -0.0, 1.5, -2.0, math.nan, math.inf, -math.inf, None]
DAYS = [date(2013, 7, 10), date(1999, 12, 31), date(1, 1, 1), None]
DECIMALS = [Decimal("9" * 34 + ".9999"), Decimal("-" + "9" * 34 + ".9999"), Decimal("0.0001"), Decimal(0), None]
INTEGERS = [2**63 - 1, -(2**63), 0, 1, 7, None]
INSTANTS = [datetime(2013, 7, 10, tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), None]
NUMBERS = st.none() | st.floats(-1e6, 1e6) | st.sampled_from([math.nan, math.inf, -math.inf, -0.0])
VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    "s": st.sampled_from(["a", "b", "", "é", "日本", "\U0001f600", "it's", None]),
    "b": st.sampled_from([True, False, None]),
    "f": st.sampled_from(FLOATS),
    "day": st.sampled_from(DAYS),
    "bin": st.sampled_from([b"", b"\x00", b"\xff\xfe", None]),
    "dec": st.sampled_from(DECIMALS),
    "ts": st.sampled_from(INSTANTS),
    "i": st.sampled_from(INTEGERS),
    "small": st.integers(-128, 127) | st.none(),
    "x": NUMBERS,
    "t": st.integers(0, 6 * HOUR_US - 1) | st.none(),
}
DIMENSIONS: tuple[list[list[str]], ...] = (
    [["s", "b"], ["f"]],
    [["day"], ["bin", "dec"]],
    [["ts"], ["i"], ["small"]],
    [],
)
EXACT = [
    "count(*) AS n",
    "count(x) AS xs",
    "sum(i) AS total",
    "sum(small) AS smalls",
    "sum(dec) AS money",
    *(f"{f}({name}) AS {f}_{name}" for f in ("min", "max") for name in VALUES if name != "t"),
    "count(*) FILTER (WHERE small > 0) AS positive",
    "sum(i) FILTER (WHERE s = 'a' OR b) AS some",
]
INEXACT = ["sum(x) AS sx", "avg(small) AS mean", "avg(x) AS ax"]
WHERES = {
    0: ["s = 'a' OR b IS NULL", "f > 0", "NOT (s < 'b' AND b)", "s <> 'it\\'s'", "f <=> 0.0", "s LIKE '%é%' OR f < 0"],
    1: ["day >= DATE '2000-01-01'", "dec > 0 OR bin IS NULL", "NOT dec = 0.0001", "dec IN (0, 1)"],
    2: ["i > 0", "small BETWEEN -10 AND 10", "ts IS NOT NULL AND NOT i = 7", "i IN (1, 7)"],
}
Rows = list[dict[str, Any]]

tables = st.lists(st.fixed_dictionaries(dict(VALUES)), max_size=40)
ordinary = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def cube_of(dimensions: Sequence[Sequence[str]], measures: Sequence[str]) -> Cube:
    plain = {"dimensions": dimensions, "measures": measures, "time": "t", "grain_s": 3_600}
    return Cube(CubeDefinition.parse(plain), SCHEMA)


def table_of(rows: Rows) -> pa.Table:
    return pa.Table.from_pylist(rows, SCHEMA)


def cut(rows: Rows, cuts: Sequence[int]) -> list[Rows]:
    places = sorted(min(place, len(rows)) for place in cuts)
    return [rows[start:stop] for start, stop in zip([0, *places], [*places, len(rows)], strict=True)]


def stored(cube: Cube) -> list[tuple[int, bytes]]:
    return [(piece.pane, piece.to_bytes()) for piece in cube.pieces()]


@ordinary
@given(rows=tables, cuts=st.lists(st.integers(0, 40), max_size=3), data=st.data())
def test_any_cut_order_and_way_of_merging_gives_equal_bytes(rows: Rows, cuts: list[int], data: st.DataObject) -> None:
    dimensions = data.draw(st.sampled_from(DIMENSIONS))
    whole = cube_of(dimensions, EXACT)
    whole.fold(table_of(rows))
    in_parts = cube_of(dimensions, EXACT)
    for part in cut(data.draw(st.permutations(rows)), cuts):
        in_parts.fold(table_of(part))
    assert stored(in_parts) == stored(whole)
    cubes = []
    for part in cut(rows, cuts):
        cubes.append(cube_of(dimensions, EXACT))
        cubes[-1].fold(table_of(part))
    merging = cube_of(dimensions, EXACT)
    for other in data.draw(st.permutations(cubes)):
        merging.merge(other)
        merging.query({"by": []})
    assert stored(merging) == stored(whole)
    untimed = sum(row["t"] is None for row in rows)
    assert merging.counted == whole.counted == len(rows) - untimed
    assert merging.excluded == {"time": untimed, "too_large": 0}


@ordinary
@given(rows=tables, cuts=st.lists(st.integers(0, 40), max_size=2), data=st.data())
def test_every_cuboid_and_measure_is_that_of_duckdb(rows: Rows, cuts: list[int], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(DIMENSIONS) - 1))
    cube = cube_of(DIMENSIONS[place], [*EXACT, *INEXACT])
    for part in cut(rows, cuts):
        cube.fold(table_of(part))
    where = data.draw(st.sampled_from([None, *WHERES.get(place, ["true"])]))
    first, end = data.draw(st.sampled_from([(None, None), (1, 3), (2, 6), (None, 2), (4, None), (9, 11)]))
    dimensions = cube.definition.dimensions
    by = [[dimensions.names[own] for own in dimensions.columns(cuboid)] for cuboid in dimensions.cuboids()]
    body: dict[str, Any] = {"by": by, "limit": 100_000}
    body |= {} if where is None else {"where": where}
    body |= {} if first is None else {"from": instant_text(first * HOUR_US)}
    body |= {} if end is None else {"to": instant_text(end * HOUR_US)}
    expected = [row for names in by for row in duckdb_rows(rows, names, where, first, end)]
    assert_answer(cube.query(body), expected)


@pytest.mark.parametrize(("place", "where"), [(place, where) for place, own in WHERES.items() for where in own])
def test_where_accepts_the_groups_that_duckdb_accepts(place: int, where: str) -> None:
    draw = random.Random(where)
    chosen: Mapping[str, Sequence[Any]] = {
        **{"s": ["a", "b", "", "é", "it's", "its", None], "b": [True, False, None], "f": FLOATS, "day": DAYS},
        **{"bin": [b"", b"\x00", None], "dec": DECIMALS, "ts": INSTANTS, "i": INTEGERS, "x": [1.5, None]},
        **{"small": [-128, -10, 0, 10, None], "t": range(4)},
    }
    rows = [{name: draw.choice(own) for name, own in chosen.items()} for _ in range(300)]
    cube = cube_of(DIMENSIONS[place], [*EXACT, *INEXACT])
    cube.fold(table_of(rows))
    names = cube.definition.dimensions.names
    # Each group is judged, also where the answer has none of the dimensions that WHERE names.
    by = [[*names], []]
    expected = [row for own in by for row in duckdb_rows(rows, own, where, None, None)]
    assert_answer(cube.query({"by": by, "where": where, "limit": 100_000}), expected)
    assert 0 < expected[-1]["n"] < len(rows)


def assert_answer(found: Mapping[str, Any], expected: Sequence[Mapping[str, Any]]) -> None:
    """Compare all groups of an answer, and their measures."""
    assert found["groups"] == len(expected)
    assert [row["group"] for row in found["rows"]] == [row["group"] for row in expected]
    for row, other in zip(found["rows"], expected, strict=True):
        assert_row(row, other)


def assert_row(row: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Compare the measures of a group; those of doubles with ``math.fsum``, of decimals with ``Decimal``."""
    assert set(row) == (set(expected) - {"_dec", "_x", "_small"}) | {"money", "sx", "ax", "mean"}
    for name in set(row) & set(expected):
        assert row[name] == expected[name], name
    decimals = [value for value in expected["_dec"] or [] if value is not None]
    total = Decimal(0)
    for value in decimals:
        total = WIDE.add(total, value)
    fits = -(10**38) < total.scaleb(4, WIDE) < 10**38
    assert row["money"] == (f"{WIDE.quantize(total, Decimal('0.0001')):f}" if decimals and fits else None)
    smalls = [value for value in expected["_small"] or [] if value is not None]
    assert row["mean"] == (sum(smalls) / len(smalls) if smalls else None)
    numbers = [value for value in expected["_x"] or [] if value is not None]
    if not numbers:
        assert row["sx"] is row["ax"] is None
    elif not all(map(math.isfinite, numbers)):
        assert row["sx"] == row["ax"] == plain_values(pa.array([sum(numbers)]))[0]
    else:
        exact = math.fsum(numbers)
        bound = math.ulp(exact) if sum(map(abs, numbers)) <= 1e12 * abs(exact) else 1e-18 * sum(map(abs, numbers))
        assert abs(row["sx"] - exact) <= bound
        assert row["ax"] == row["sx"] / len(numbers)


def duckdb_rows(
    rows: Rows, names: Sequence[str], where: str | None, first: int | None, end: int | None
) -> list[dict[str, Any]]:
    """Return what DuckDB groups, in the order of keys, NULL first."""
    extremes = [f"{f}({name}) AS {f}_{name}" for f in ("min", "max") for name in VALUES if name != "t"]
    measures = [
        "count(*)::BIGINT AS n",
        "count(x)::BIGINT AS xs",
        "sum(i)::HUGEINT::VARCHAR AS total",
        "sum(small)::HUGEINT::VARCHAR AS smalls",
        *extremes,
        "count(*) FILTER (WHERE small > 0)::BIGINT AS positive",
        "(sum(i) FILTER (WHERE s = 'a' OR b))::HUGEINT::VARCHAR AS some",
        "list(dec) AS _dec, list(x) AS _x, list(small) AS _small",
    ]
    sql = f"SELECT {', '.join([*names, *measures])} FROM given WHERE t IS NOT NULL"
    sql += f" AND t >= make_timestamptz({(0 if first is None else first) * HOUR_US})"
    sql += f" AND t < make_timestamptz({(100 if end is None else end) * HOUR_US})"
    if where is not None:
        # Of Spark two literals side by side are one: a quote inside of one is escaped.
        escaped = where.replace("\\'", "''")
        sql += f" AND ({escaped.replace('<=>', 'IS NOT DISTINCT FROM')})"
    if names:
        sql += f" GROUP BY {', '.join(names)} ORDER BY {', '.join(f'{name} NULLS FIRST' for name in names)}"
    given = table_of(rows)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("arrow", given)
        # A filter over Arrow's memory is Arrow's, to which NaN is not above any number.
        connection.execute("CREATE TABLE given AS SELECT * FROM arrow")
        found = connection.execute(sql).to_arrow_table()
    columns = {name: plain_values(as_ours(found[name].combine_chunks(), name)) for name in [*names, *own_names(found)]}
    lists = {name: found[name].to_pylist() for name in ("_dec", "_x", "_small")}
    made = []
    for row in range(found.num_rows):
        measured = {name: columns[name][row] for name in own_names(found)}
        for name in ("total", "smalls", "some"):
            measured[name] = None if measured[name] is None else int(measured[name])
        group = {name: columns[name][row] for name in names}
        made.append({"group": group, **measured, **{name: own[row] for name, own in lists.items()}})
    return made


def own_names(found: pa.Table) -> list[str]:
    """Return the measures of DuckDB's table, without the lists."""
    return [name for name in found.column_names if name not in VALUES and not name.startswith("_")]


def as_ours(array: pa.Array, name: str) -> pa.Array:
    """Return a column of DuckDB's with one zero, and in the schema's type."""
    column = name.removeprefix("min_").removeprefix("max_")
    kind = SCHEMA.field(column).type if column in SCHEMA.names else array.type
    array = array.cast(kind)
    if not pa.types.is_floating(kind):
        return array
    values = [None if value is None else value + 0.0 for value in array.to_pylist()]
    return pa.array(values, kind, from_pandas=False)


def test_a_large_cube_is_merged_as_it_grows_and_equals_duckdb() -> None:
    draw, count = np.random.default_rng(3), 200_000
    given = pa.table(
        {
            "a": draw.integers(0, 500, count),
            "b": pa.array(draw.choice(["x", "y", "z"], count)),
            "v": draw.integers(-(2**62), 2**62, count),
            "t": pa.array(draw.integers(0, 24 * HOUR_US, count), pa.timestamp("us", tz="UTC")),
        }
    )
    plain = {"dimensions": [["a"], ["b"]], "measures": ["count(*) AS n", "sum(v) AS total", "max(v) AS most"]}
    cube = Cube(CubeDefinition.parse({**plain, "time": "t", "grain_s": 3_600}), given.schema)
    for start in range(0, count, 20_000):
        cube.fold(given.slice(start, 20_000))
    found = cube.query({"by": ["b", "a"], "limit": 100_000})["rows"]
    sql = "SELECT a, b, count(*), sum(v), max(v) FROM given GROUP BY a, b ORDER BY a, b"
    expected = duckdb.execute(sql).fetchall()
    own = [(row["group"]["a"], row["group"]["b"], row["n"], row["total"], row["most"]) for row in found]
    assert own == expected
    panes = [piece.pane for piece in cube.pieces()]
    assert panes == sorted(set(panes)) == list(range(24))


def test_pieces_are_read_back() -> None:
    cube = cube_of(DIMENSIONS[0], [*EXACT, *INEXACT])
    rows = [{"s": "a", "t": hour * HOUR_US, "x": 1.5, "f": -0.0, "i": hour} for hour in range(4)]
    cube.fold(table_of([*rows, {"t": 0}]))
    read = [Piece.of_bytes(pane, data) for pane, data in stored(cube)]
    assert [(piece.pane, piece.to_bytes()) for piece in read] == stored(cube)
    assert [piece.count for piece in read] == [2, 1, 1, 1]


def test_over_nothing_the_cuboid_without_dimensions_has_one_row() -> None:
    cube = cube_of([["s"]], ["count(*) AS n", "count(x) AS xs", "sum(i) AS total", "avg(x) AS mean", "min(s) AS least"])
    nothing = {"n": 0, "xs": 0, "total": None, "mean": None, "least": None}
    for body in ({}, {"where": "s = 'a'"}, {"from": "2013-07-10", "to": "2013-07-11"}):
        assert cube.query({"by": [["s"], []], **body})["rows"] == [{"group": {}, **nothing}]
    cube.fold(table_of([{"s": "b", "t": 0, "i": 1}]))
    assert cube.query({"by": [["s"], []], "where": "s = 'a'"})["rows"] == [{"group": {}, **nothing}]


def test_a_group_with_a_sum_of_zero_stays_and_null_is_no_roll_up() -> None:
    cube = cube_of([["s"]], ["sum(i) AS total"])
    cube.fold(table_of([{"s": None, "t": 0, "i": 5}, {"s": None, "t": 0, "i": -5}, {"s": "a", "t": 0}]))
    rows = cube.query({"by": [["s"], []]})["rows"]
    assert rows[0] == {"group": {"s": None}, "total": 0}
    assert rows[1] == {"group": {"s": "a"}, "total": None}
    assert rows[2] == {"group": {}, "total": 0}


def test_grouping_sets_of_one_answer_add_up_to_all() -> None:
    cube = cube_of([["s", "b"], ["small"]], ["count(*) AS n"])
    draw = np.random.default_rng(1)
    rows = [{"s": "ab"[draw.integers(2)], "b": True, "small": int(draw.integers(5)), "t": 0} for _ in range(100)]
    cube.fold(table_of(rows))
    by: list[list[str]] = [["s"], ["small"], ["b", "small"], []]
    found = cube.query({"by": by})["rows"]
    for names in ({"s"}, {"small"}, {"s", "b", "small"}, set()):
        assert sum(row["n"] for row in found if set(row["group"]) == names) == 100


def test_cubes_of_other_definitions_do_not_merge() -> None:
    cube = cube_of([["s"]], ["count(*)"])
    with pytest.raises(CubeError, match="merge cubes of one definition and schema"):
        cube.merge(cube_of([["b"]], ["count(*)"]))
    other = Cube(cube.definition, "s BINARY, t TIMESTAMP")
    elsewhere = Cube(cube.definition, SCHEMA, time_zone="Europe/Berlin")
    for another in (other, elsewhere):
        with pytest.raises(CubeError, match="is another cube"):
            cube.merge(another)


def test_a_cube_merges_with_itself_and_others_stay_as_they_are() -> None:
    cube = cube_of([["s"]], ["count(*) AS n"])
    cube.fold(table_of([{"s": "a", "t": 0}]))
    cube.merge(cube)
    assert cube.query({})["rows"] == [{"group": {}, "n": 2}]
    assert cube.counted == 2


def test_times_out_of_the_years_1_to_9999_are_excluded() -> None:
    cube = cube_of([], ["count(*) AS n"])
    last = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    last_us = last // timedelta(microseconds=1)
    for time_us in (last_us, last_us + 1, -62_135_596_800_000_000, -62_135_596_800_000_001, 2**63 - 1):
        cube.fold(pa.table({"t": pa.array([time_us], pa.timestamp("us", tz="UTC"))}))
    assert (cube.counted, cube.excluded["time"]) == (2, 3)
    assert cube.query({"to": "0001-01-01T01:00:00Z"})["rows"] == [{"group": {}, "n": 1}]
    begin, end = cube.query({"from": "9999-12-31T23:00:00Z"})["interval"]
    assert (begin, end) == ("9999-12-31T23:00:00Z", "10000-01-01T00:00:00Z")
    # The interval of an answer can be asked for.
    assert cube.query({"from": begin, "to": end})["rows"] == [{"group": {}, "n": 1}]
    with pytest.raises(CubeError, match="is no time"):
        cube.query({"to": "10000-01-01T00:00:01Z"})
