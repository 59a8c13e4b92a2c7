"""When evaluating an expression is an error: the conditions, and that they hold where Spark's ANSI mode throws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.predicate import normalise
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.error_condition import error_condition
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.tiers import PartOf

SCHEMA = Schema.from_ddl(
    "n INT, m INT, big BIGINT, d DOUBLE, price DECIMAL(38,20), s STRING, t STRING, day DATE, ts TIMESTAMP, flag BOOLEAN"
    ", whole DECIMAL(38,0)"
)


def condition_of(text: str) -> str | None:
    node, source = parse(text, Limits(), "UTC")
    return error_condition(Typer(source, SCHEMA), node)


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
        "price = price",
        "coalesce(n, m)",
        "n > 1 AND m > 1",
        "s IN (1, 2)",
        "CASE WHEN n > 0 THEN m END",
        "nullif(n, 0)",
        "ln(d)",
        "abs(n)",
        "try_to_timestamp(s, 'yyyy')",
        "try_divide(n, m)",
        "contains(s, 'x')",
        "contains('x', s)",
        "lpad(s, 5, t)",
        "nullifzero(flag)",
        "regexp_extract(s, 'a', 0)",
        "n / NULL",
        "day + 1",
        "to_date(ts)",
        "INTERVAL 1 DAY < INTERVAL '1' HOUR",
        "try_make_interval(n)",
        "try_multiply(INTERVAL 1 DAY, n)",
        "timestampdiff(DAY, day, ts)",
        "extract(DAY FROM ts)",
    ],
)
def test_what_is_never_an_error(text: str) -> None:
    assert condition_of(text) is None


NINES = "9" * 38
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
    "to_date(s, 'yyyy-MM-dd')",
    "to_timestamp(s, 'yyyy-MM-dd')",
    "make_date(n + 2000, m, 1)",
    "sqrt(s)",
    "ln(s)",
    "log(s, d)",
    "nullif(s, 5)",
    "CASE s WHEN 5 THEN n WHEN 7 THEN n / m END",
    "CASE WHEN m <> 0 THEN n / m ELSE 0 END",
    "CASE WHEN n / m > 1 THEN 1 WHEN n / (m - 1) > 1 THEN n / (m - 2) END",
    "CASE m WHEN 0 THEN 0 WHEN 1 THEN n / (m - 1) ELSE n / m END",
    "if(m = 0, 0, n / m)",
    "if(flag, n / m, n / (m - 1))",
    "coalesce(n, m) / m",
    "if(n / m > 1, 1, 0) = 1",
    "coalesce(n, n / m)",
    "coalesce(m / (big - 5), n / m, 1)",
    "nvl2(m, n / m, n / (m - 1))",
    "(m <> 0 AND n / m > 1) = flag",
    "(m = 0 OR n / m > 1) = flag",
    "(n / m > 1 AND flag) = TRUE",
    "whole > price",
    "whole BETWEEN price AND price",
    "INTERVAL 1 DAY / m",
    "INTERVAL 178000000 YEARS * n > INTERVAL 1 YEAR",
    "-(INTERVAL 178000000 YEARS * n) > INTERVAL 1 YEAR",
    "CAST(n AS INTERVAL YEAR) > INTERVAL 1 YEAR",
    "CAST(s AS INTERVAL DAY)",
    "CAST(INTERVAL 100 YEARS * n AS TINYINT)",
    "make_ym_interval(n) > INTERVAL 1 YEAR",
    "make_dt_interval(n)",
    "timestampadd(YEAR, n, ts)",
)


@pytest.mark.spark
@pytest.mark.slow
def test_it_is_an_error_where_ansi_mode_throws(spark: SparkSession, part_of: PartOf[str]) -> None:
    rows = [
        "1, 0, 0L, 1.5D, 1.00, '7', 'a', DATE '2013-01-01', TIMESTAMP '2013-01-01 00:00:00', TRUE, 5",
        f"7, 1, 5L, 12345.678D, {NINES[:18]}.99, 'x', 'b', DATE '0001-01-01', TIMESTAMP '2013-01-01 00:00:00', FALSE,"
        f" {NINES}",
        "-2147483648, 2, 7L, 0.0D, -5.00, '2013-01-01', '', NULL, NULL, TRUE, -1",
        "0, -1, -1L, -3.5D, NULL, '', '5', DATE '2013-01-01', NULL, NULL, NULL",
        "0, 3, 0L, -1.0D, 0.00, '0', '', NULL, NULL, FALSE, 0",
        "NULL, 3, NULL, NULL, 2.00, 'true', NULL, NULL, NULL, FALSE, 0",
        "5, NULL, 1L, 2.0D, 0.00, '3', '1', DATE '2020-02-29', TIMESTAMP '1970-01-01 00:00:00', NULL, 7",
    ]
    names = ", ".join(SCHEMA.arrow.names)
    casts = ", ".join(f"CAST({part.split(' ')[0]} AS {part.split(' ')[1]})" for part in _columns())
    frame = spark.sql(f"SELECT {casts} FROM VALUES {', '.join(f'({row})' for row in rows)} AS v({names})")
    frame = frame.toDF(*SCHEMA.arrow.names).coalesce(1).localCheckpoint()
    conditions = {text: condition_of(text) for text in part_of(FALLIBLE, 6)}
    assert None not in conditions.values()
    answers = frame.selectExpr(*(f"{condition} AS `{i}`" for i, condition in enumerate(conditions.values()))).collect()
    # Never NULL: what is NULL is no error.
    assert {is_error for values in answers for is_error in values} == {True, False}
    for number, row in enumerate(rows):
        errors = [text for text, is_error in zip(conditions, answers[number], strict=True) if is_error]
        well = [text for text in conditions if text not in errors]
        # Together Spark may compute what they share before a branch is taken: then each one alone tells.
        if _throws(spark, frame, number, well):
            assert [text for text in well if _throws(spark, frame, number, [text])] == [], row
        for text in errors:
            assert _throws(spark, frame, number, [text]), (text, row)


def _columns() -> list[str]:
    return [part.strip() for part in SCHEMA.ddl().split(", ")]


def _throws(spark: SparkSession, frame: DataFrame, row: int, texts: list[str]) -> bool:
    """Whether one of the expressions throws on a row with ANSI mode on."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    spark.conf.set("spark.sql.ansi.enabled", "true")
    spark.sparkContext.setLogLevel("OFF")
    try:
        frame.limit(row + 1).offset(row).selectExpr(*texts).collect()
    except (PySparkException, Py4JJavaError):  # Java's own ArithmeticException as well
        return True
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "false")
        spark.sparkContext.setLogLevel("WARN")
    return False


def test_a_column_has_none_and_an_expression_takes_its_own_into_the_plan() -> None:
    found = normalise("n > 1 AND n / m > 2 AND s > 5", SCHEMA).p_attributes
    assert {attribute.sql: attribute.error_condition for attribute in found} == {
        "n": None,
        "n / m": "(n IS NOT NULL AND m IS NOT NULL AND (n / m) IS NULL)",
        "s > 5": "(s IS NOT NULL AND (s > 5) IS NULL)",
    }


def test_a_condition_nests_no_deeper_than_its_expression() -> None:
    branches = " ".join(f"WHEN n / {i} > m / n THEN {i}" for i in range(1, 25))
    deep = condition_of(f"CASE {branches} ELSE n / m END")
    assert deep is not None
    assert _nesting(deep) < 10


def test_of_a_condition_that_grows_too_long_none_is_made() -> None:
    text = f"length(concat({', '.join(['s'] * 90)}))"
    for _ in range(40):
        text = f"({text}) / m"
    assert condition_of("length(s) / m") is not None
    assert condition_of(text) is None


def _nesting(text: str) -> int:
    depth = most = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        most = max(most, depth)
    return most
