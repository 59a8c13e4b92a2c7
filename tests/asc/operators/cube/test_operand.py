"""Expressions of cubes, typed."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.operand import OperandReader, is_comparable
from asc.schema import Schema

READER = OperandReader(
    Schema.from_ddl(
        "origin STRING, delay INT, x DOUBLE, ts TIMESTAMP, local TIMESTAMP_NTZ, day DATE, place STRUCT<city: STRING>, "
        "tags ARRAY<STRING>, `odd name` BINARY, price DECIMAL(10,2)"
    ),
    "UTC",
)


@pytest.mark.parametrize(
    ("sql", "kind", "path"),
    [
        ("ORIGIN", pa.string(), ("origin",)),
        ("place.city", pa.string(), ("place", "city")),
        ("`odd name`", pa.binary(), ("odd name",)),
        ("year(ts)", pa.int32(), None),
        ("delay + 1", pa.int32(), None),
        ("CASE WHEN delay > 0 THEN 'late' ELSE 'early' END", pa.string(), None),
        ("delay > 0", pa.bool_(), None),
        ("tags[0]", pa.string(), None),
        ("local", pa.timestamp("us"), ("local",)),
    ],
)
def test_a_dimension_has_a_type_and_a_plain_column_a_path(
    sql: str, kind: pa.DataType, path: tuple[str, ...] | None
) -> None:
    found = READER.dimension(sql)
    assert (found.sql, found.type, found.path) == (sql, kind, path)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("dely", "dimension 'dely': unknown column 'dely': did you mean 'delay'?"),
        ("place", "dimension 'place': is STRUCT<city: STRING>: group by a boolean"),
        ("tags", "is ARRAY<STRING>: group by"),
        ("1 + 1", "is the same for every record: name columns that differ"),
        ("delay +", "write an expression of Spark SQL"),
        ("rand()", "dimension 'rand()': "),
        ("nowhere(delay)", "dimension 'nowhere(delay)': "),
    ],
)
def test_what_is_no_dimension_is_refused_in_one_line(sql: str, said: str) -> None:
    with pytest.raises(CubeError) as caught:
        READER.dimension(sql)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_time_is_a_timestamp() -> None:
    assert READER.time("ts").path == ("ts",)
    assert READER.time("date_trunc('HOUR', ts)").path is None
    for sql, kind in (("local", "TIMESTAMP_NTZ"), ("day", "DATE"), ("origin", "STRING")):
        with pytest.raises(CubeError, match=f"time '{sql}': is {kind}, no TIMESTAMP: name one, or CAST it to one"):
            READER.time(sql)


def test_a_filter_is_a_predicate() -> None:
    assert [str(own) for own in READER.where("delay > 0 AND x < 1", "sum(x)").p_attributes] == ["delay", "x"]
    with pytest.raises(CubeError, match="measure 'sum\\(x\\)': 'dely > 0': unknown column 'dely'"):
        READER.where("dely > 0", "sum(x)")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(pa.string(), True), (pa.decimal128(38, 3), True), (pa.list_(pa.int32()), False), (None, False)],
)
def test_what_has_an_order(kind: pa.DataType | None, expected: bool) -> None:
    assert is_comparable(kind) is expected
