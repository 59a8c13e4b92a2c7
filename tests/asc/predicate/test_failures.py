"""When the evaluation of an expression fails: the conditions, and that they hold where Spark's ANSI mode throws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.predicate import normalise
from asc.predicate.expression import Typer
from asc.predicate.failures import failure_of
from asc.predicate.limits import Limits
from asc.predicate.parser import parse
from asc.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = Schema.from_ddl(
    "n INT, m INT, big BIGINT, d DOUBLE, price DECIMAL(38,2), s STRING, t STRING, day DATE, ts TIMESTAMP, flag BOOLEAN"
)


def failure(text: str) -> str | None:
    node, source = parse(text, Limits(), "UTC")
    return failure_of(Typer(source, SCHEMA), node)


@pytest.mark.parametrize(
    "text",
    [
        "n + m",
        "n * big - d",
        "n / 2",
        "n % -7",
        "-n",
        "n & m",
        "n DIV 3",
        "CAST(n AS TINYINT)",
        "CAST(d AS INT)",
        "CAST(n AS STRING)",
        "CAST(ts AS DATE)",
        "TRY_CAST(s AS INT)",
        "s || t",
        "s < t",
        "lower(s)",
        "n < d",
        "s <=> 5",
        "s IN (1, 2)",
        "CASE WHEN n > 0 THEN m END",
        "nullif(n, 0)",
        "abs(n)",
        "n / NULL",
    ],
)
def test_what_cannot_fail(text: str) -> None:
    assert failure(text) is None


FALLIBLE = (
    "n / m",
    "n % m",
    "n DIV m",
    "mod(n, m)",
    "pmod(n, m)",
    "n / (m - 1)",
    "d / n + 1 / m",
    "price * price",
    "price + price",
    "CAST(s AS INT)",
    "CAST(s AS DOUBLE)",
    "CAST(s AS DATE)",
    "CAST(s AS TIMESTAMP)",
    "CAST(s AS BOOLEAN)",
    "CAST(d AS DECIMAL(5,2))",
    "CAST(CAST(s AS INT) / m AS STRING)",
    "s + 1",
    "s = 5",
    "s > 5",
    "s BETWEEN 1 AND 5",
    "day = s",
    "to_date(s)",
    "year(s)",
    "sqrt(s)",
    "CASE WHEN m <> 0 THEN n / m ELSE 0 END",
    "CASE WHEN n / m > 1 THEN 1 WHEN n / (m - 1) > 1 THEN n / (m - 2) END",
    "CASE m WHEN 0 THEN 0 WHEN 1 THEN n / (m - 1) ELSE n / m END",
    "if(m = 0, 0, n / m)",
    "if(flag, n / m, n / (m - 1))",
    "coalesce(n, m) / m",
    "if(n / m > 1, 1, 0) = 1",
)


@pytest.mark.spark
@pytest.mark.slow
def test_it_fails_where_ansi_mode_throws(spark: SparkSession) -> None:
    rows = [
        "1, 0, 0L, 1.5D, 1.00, '7', 'a', DATE '2013-01-01', TIMESTAMP '2013-01-01 00:00:00', TRUE",
        f"7, 1, 5L, 12345.678D, {'9' * 36}.99, 'x', 'b', DATE '0001-01-01', TIMESTAMP '2013-01-01 00:00:00', FALSE",
        "-2147483648, 2, 7L, 0.0D, -5.00, '2013-01-01', '', NULL, NULL, TRUE",
        "0, -1, -1L, -3.5D, NULL, '', '5', DATE '2013-01-01', NULL, NULL",
        "NULL, 3, NULL, NULL, 2.00, 'true', NULL, NULL, NULL, FALSE",
        "5, NULL, 1L, 2.0D, 0.00, '3', '1', DATE '2020-02-29', TIMESTAMP '1970-01-01 00:00:00', NULL",
    ]
    names = ", ".join(SCHEMA.arrow.names)
    casts = ", ".join(f"CAST({part.split(' ')[0]} AS {part.split(' ')[1]})" for part in _columns())
    frame = spark.sql(f"SELECT {casts} FROM VALUES {', '.join(f'({row})' for row in rows)} AS v({names})")
    frame = frame.toDF(*SCHEMA.arrow.names).coalesce(1).localCheckpoint()
    conditions = {text: failure(text) for text in FALLIBLE}
    assert None not in conditions.values()
    told = frame.selectExpr(*(f"{condition} AS `{i}`" for i, condition in enumerate(conditions.values()))).collect()
    seen: set[bool] = set()
    for number, text in enumerate(conditions):
        for row in range(len(rows)):
            expected = _throws(spark, frame, row, text)
            # Never NULL: what is NULL does not fail.
            assert told[row][number] is expected, (text, rows[row])
            seen.add(expected)
    assert seen == {True, False}


def _columns() -> list[str]:
    return [part.strip() for part in SCHEMA.ddl().split(", ")]


def _throws(spark: SparkSession, frame: object, row: int, text: str) -> bool:
    """Whether the expression throws on a row with ANSI mode on."""
    from pyspark.errors import PySparkException

    spark.conf.set("spark.sql.ansi.enabled", "true")
    spark.sparkContext.setLogLevel("OFF")
    try:
        frame.limit(row + 1).offset(row).selectExpr(text).collect()  # type: ignore[attr-defined]
    except PySparkException:
        return True
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "false")
        spark.sparkContext.setLogLevel("WARN")
    return False


def test_a_column_has_none_and_an_expression_takes_its_own_into_the_plan() -> None:
    found = normalise("n > 1 AND n / m > 2 AND s > 5", SCHEMA).p_attributes
    assert {attribute.sql: attribute.failure for attribute in found} == {
        "n": None,
        "n / m": "(n IS NOT NULL AND m IS NOT NULL AND (n / m) IS NULL)",
        "s > 5": "(s IS NOT NULL AND (s > 5) IS NULL)",
    }
