"""Layouts: types and states of a cube over a schema."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.layout import Layout
from asc.schema import Schema

SCHEMA = Schema.from_ddl(
    "s STRING, i BIGINT, x DOUBLE, price DECIMAL(10,2), ts TIMESTAMP, tags ARRAY<STRING>, b BOOLEAN"
)


def layout(measures: list[str], **others: Any) -> Layout:
    plain = {"dimensions": [["s"]], "measures": measures, "time": "ts", "grain_s": 60, **others}
    return Layout.of(CubeDefinition.parse(plain), SCHEMA)


def test_measures_share_equal_states() -> None:
    found = layout(["sum(x)", "avg(x)", "count(x)", "count(*)", "avg(i)", "sum(i) AS total", "min(x)"])
    kinds = [slot.key for slot in found.slots]
    assert kinds == [("sum", "x"), ("count", "x"), ("count", None), ("sum", "i"), ("count", "i"), ("min", "x")]
    assert [own.slots for own in found.measures] == [(0,), (0, 1), (1,), (2,), (3, 4), (3,), (5,)]


def test_statistics_of_the_same_columns_share_a_state() -> None:
    found = layout(["corr(x, i)", "regr_slope(i, x)", "stddev(x)", "var_pop(x)", "regr_count(x, x)", "covar_pop(x, i)"])
    assert [slot.key for slot in found.slots] == [("moments", "i", "x"), ("moments", "x")]
    assert [own.slots for own in found.measures] == [(0,), (0,), (1,), (1,), (1,), (0,)]
    assert [operand.sql for operand in found.operands] == ["ts", "s", "i", "x"]
    filtered = layout(["corr(x, i) FILTER (WHERE b)", "corr(x, i)"])
    assert len(filtered.slots) == 2
    assert [operand.sql for operand in filtered.slots[0].operands] == [f"CASE WHEN (b) THEN {x} END" for x in "ix"]


@pytest.mark.parametrize(
    ("measure", "kind"),
    [
        ("stddev(price)", pa.float64()),
        ("regr_avgx(price, i)", pa.float64()),
        ("regr_count(x, i)", pa.int64()),
        ("count(tags)", pa.int64()),
        ("sum(i)", pa.decimal128(38, 0)),
        ("sum(price)", pa.decimal128(38, 2)),
        ("sum(x)", pa.float64()),
        ("avg(i)", pa.float64()),
        ("avg(price)", pa.decimal128(14, 6)),
        ("max(b)", pa.bool_()),
        ("min(ts)", pa.timestamp("us", tz="UTC")),
        ("sum(i) FILTER (WHERE b)", pa.decimal128(38, 0)),
        ("count(*) FILTER (WHERE b)", pa.int64()),
    ],
)
def test_the_type_of_an_answer(measure: str, kind: pa.DataType) -> None:
    assert layout([measure]).measures[0].type == kind


def test_what_is_odd_is_told() -> None:
    found = layout(["sum(i) FILTER (WHERE i > 0 AND i < 0)", "sum(x)"], dimensions=[["x"], ["s"]])
    assert found.warnings == (
        "dimension 'x': each different DOUBLE is a group: round it",
        "measure 'sum(i) FILTER (WHERE i > 0 AND i < 0)': a contradiction: it accepts no record",
    )


def test_operands_are_each_expression_once() -> None:
    found = layout(["sum(i) FILTER (WHERE b)", "max(i)", "avg(i)", "max(ts)", "count(s)"])
    names = [operand.sql for operand in found.operands]
    assert names == ["ts", "s", "CASE WHEN (b) THEN i END", "i"]
    assert [operand.path is None for operand in found.operands] == [False, False, True, False]


def test_a_piece_has_keys_and_states() -> None:
    found = layout(["avg(x)"], dimensions=[["s"], ["i"]]).piece_schema
    assert found.names == ["d0", "d1", "s0", "s1"]
    assert found.field("d1").type == pa.dictionary(pa.int32(), pa.int64())


def test_a_level_that_is_the_same_for_every_record_may_be_of_a_comparison() -> None:
    said = r"dimension '3': is the same for every record: name columns that differ"
    with pytest.raises(CubeError, match=rf"{said}; .* put a comparison in parentheses, as \(qty > 3\)$"):
        layout(["count(*)"], dimensions=[["s"], ["i", "3"]])
    with pytest.raises(CubeError, match=f"{said}$"):
        layout(["count(*)"], dimensions=[["i"], ["3"]])
    assert [own.sql for own in layout(["count(*)"], dimensions=[["b", "i"], ["x"]]).dimensions] == ["b", "i", "x"]


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("sum(s)", "measure 'sum(s)': takes numbers, and s is STRING: use count, min or max, or CAST it"),
        ("avg(ts)", "takes numbers, and ts is TIMESTAMP"),
        ("sum(b)", "takes numbers, and b is BOOLEAN"),
        ("stddev(s)", "measure 'stddev(s)': takes numbers, and s is STRING: CAST it"),
        ("corr(x, s)", "measure 'corr(x, s)': takes numbers, and s is STRING: CAST it"),
        ("corr(ts, x) FILTER (WHERE b)", "takes numbers, and ts is TIMESTAMP: CAST it"),
        ("covar_pop(x, dely)", "measure 'covar_pop(x, dely)': 'dely': unknown column 'dely'"),
        ("covar_pop(x, 1)", "is the same for every record"),
        ("max(tags)", "takes values that have an order, and tags is ARRAY<STRING>"),
        ("sum(dely)", "measure 'sum(dely)': 'dely': unknown column 'dely'"),
        ("sum(1)", "is the same for every record"),
        ("sum(i) FILTER (WHERE i)", "measure 'sum(i) FILTER (WHERE i)': 'i': "),
    ],
)
def test_a_measure_of_a_wrong_type_is_refused_in_one_line(measure: str, said: str) -> None:
    with pytest.raises(CubeError) as caught:
        layout([measure])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


GEO = "geohash(x, i, 5 > 10) AS geo"


def test_a_computed_dimension_reads_its_inputs() -> None:
    found = layout(["sum(price)"], dimensions=[[GEO], ["s"], ["i"]])
    assert [(own.sql, own.type) for own in found.dimensions[:2]] == [("geo:5", pa.string()), ("geo:10", pa.string())]
    assert [operand.sql for operand in found.operands] == ["ts", "x", "i", "s", "price"]
    # Records are counted although no measure does.
    assert [slot.key for slot in found.slots] == [("sum", "price"), ("count", None)]
    assert (found.record_slot, layout(["sum(x)"]).record_slot) == (1, None)
    assert layout(["count(*)", "sum(x)"], dimensions=[[GEO]]).record_slot == 0


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("geohash(s, i, 5)", "takes coordinates in degrees, and s is STRING"),
        ("geohash(tags, i, 5)", "takes coordinates in degrees, and tags is ARRAY<STRING>"),
        ("geohash(nix, i, 5)", "unknown column 'nix'"),
        ("geohash(1, i, 5)", "is the same for every record"),
    ],
)
def test_a_refused_input_of_a_computed_dimension(text: str, remedy: str) -> None:
    with pytest.raises(CubeError, match=remedy):
        layout(["count(*)"], dimensions=[[text]])
