"""Conditions over two records, by what their observations carry, against Spark's filter over the records themselves."""

from __future__ import annotations

import itertools
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from asc.predicate import normalise
from asc.schema import Schema
from broker.errors import QueryError
from broker.operators.feed_projection import carried_sql
from broker.operators.near.condition import NearCondition, pair_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DDL = (
    "i BIGINT, f FLOAT, d DOUBLE, m DECIMAL(38,18), s STRING, z BINARY, o BOOLEAN, y DATE, t TIMESTAMP, "
    "n TIMESTAMP_NTZ, `odd name` STRUCT<`x'y`: STRING>, many ARRAY<INT>, "
    "_corrupt_record STRING, `p.q` INT, p STRUCT<q: INT>, `current_user` STRING"
)
SCHEMA = Schema.from_ddl(DDL)
SMALL = 0.1 + 0.2
ROWS: list[tuple[Any, ...]] = [
    (
        *(-(2**63), 0.1, SMALL, Decimal("12345678901234567890.123456789012345678"), 'q"\\\n\x00é😀', b"\xff\x00", True),
        *(date(1, 1, 1), datetime(1, 1, 1, 0, 0, 0, 1, timezone.utc), datetime(9999, 12, 31, 23, 59, 59, 999_999)),
        *(("a",), [1], "x", 1, (2,), "x"),
    ),
    (
        *(2**63 - 1, float("nan"), float("-inf"), Decimal("-0.000000000000000001"), "", b"", False),
        *(date(9999, 12, 31), datetime(1969, 12, 31, 23, 59, 59, 999_999, timezone.utc), datetime(1969, 12, 31)),
        *((None,), None, "{", 2, (1,), "y"),
    ),
    (
        *(0, -0.0, float("nan"), Decimal(0), "NaN", b"NaN", None),
        *(None, None, None),
        *((None,), [], None, 1, (1,), None),
    ),
    (None,) * 16,
]
CONDITIONS = [
    "a.i <=> b.i",
    "a.i < b.i OR a.f >= b.f",
    "a.f = b.f AND isnan(a.f)",
    "a.d <=> b.d",
    f"a.d = {SMALL!r}D AND b.i IS NULL",
    "a.m = b.m",
    "a.m <=> b.m AND a.z <=> b.z",
    "a.s <= b.s",
    "length(a.s) > length(b.s) AND a.z > b.z",
    "a.o AND NOT b.o",
    "a.y < b.y",
    "a.t <= b.t AND a.n >= b.n",
    "a.t = TIMESTAMP '0001-01-01 00:00:00.000001Z'",
    "a.`odd name`.`x'y` IS NOT NULL AND b.`odd name`.`x'y` IS NULL",
    "a._corrupt_record < b._corrupt_record",
    "a.`current_user` < b.`current_user`",
    "a.`p.q` = b.p.q AND a.p.q > b.`p.q`",
    "a.i / b.i > 0 OR a.i % b.i = 1",
]


@pytest.mark.spark
@pytest.mark.parametrize("text", CONDITIONS)
def test_a_condition_holds_where_a_filter_over_both_records_accepts_them(spark: SparkSession, text: str) -> None:
    condition = NearCondition.of(text, SCHEMA, lambda where: normalise(where, pair_schema(SCHEMA)))
    rows = list(itertools.product(ROWS, ROWS))
    pairs = spark.createDataFrame(rows, f"a STRUCT<{DDL}>, b STRUCT<{DDL}>")
    wanted = [bool(row[0]) for row in pairs.selectExpr(f"coalesce({text}, false)").collect()]
    sent = carried_sql([(column.name, column.sent) for column in condition.columns])
    carried = pairs.selectExpr(*(f"(SELECT {sent} FROM (SELECT {own}.*)) AS {own}" for own in "ab"))
    parsed = carried.selectExpr(*(f"from_json({own}, '{_quoted(condition.carried_ddl)}') AS {own}" for own in "ab"))
    objects = parsed.selectExpr(*(f"{condition.object_sql(own)} AS {own}" for own in "ab"))
    found = [row[0] for row in objects.selectExpr(f"{condition.sql} IS NOT NULL").collect()]
    assert found == wanted
    assert any(wanted)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


@pytest.mark.parametrize("text", ["a.many = b.many", "size(a.many) > 1", "a IS NULL", "1 = 1", "i > 1", "a.i", "a.i >"])
def test_what_cannot_be_carried_or_is_none_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match=r"operator\.on"):
        NearCondition.of(text, SCHEMA, lambda where: normalise(where, pair_schema(SCHEMA)))


def test_what_carries_nothing_is_null() -> None:
    assert carried_sql(()) == "CAST(NULL AS STRING)"
