"""to_char: which forms are taken for which values, and what Spark is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from asc.errors import PredicateError
from asc.predicate.expression import Expression

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMS = (
    *("9", "0", "999", "$99.99", "S999", "999S", "MI99", "99MI", "99PR", "99,990", "9G999D00", ".9", "9.", "90"),
    *("$9.9PR", "s9", "9d9", "x", "$", "9.9.9", "99,,9", ",9", "9,", "L99", "S9S", "$9$", "9$", "PR9", "9PR9", "-9"),
    *("9S9", ".", "S", "$.", "9.9,9", "S$9", "$S9"),
)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("to_char(ts, 'YYYY')", "has no letter Y"),
        ("to_char(n, s)", "must be a constant"),
        ("to_char(n, 'yyyy')", "takes a form such as"),
        ("to_char(raw, 'UTF-16')", "'base64', 'hex' or 'utf-8'"),
        ("to_char(flag, '9')", "to_char of BOOLEAN"),
        ("to_char(coalesce(s, ts), '9')", "a value of unknown type"),
        ("to_varchar(tags, '9')", "not a number, date, timestamp or binary"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("to_char(day, 'yyyy')", "date_format(TRY_CAST(day AS TIMESTAMP), 'yyyy')"),
        ("to_varchar(n, '$9,999.00')", "to_varchar(n, '$9,999.00')"),
        ("to_char(s, '9')", "to_char(left(s, 20000), '9')"),
        ("to_char(raw, 'base64')", "to_char(raw, 'base64')"),
        ("to_char(raw, 'utf-8')", "CAST(try_to_binary(to_char(raw, 'utf-8'), 'utf-8') AS STRING)"),
        ("to_char(n, NULL)", "to_char(n, NULL)"),
    ],
)
def test_what_spark_is_given(text: str, sql: str, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).sql == sql


@pytest.mark.spark
def test_no_form_is_taken_that_spark_refuses(spark: SparkSession, expression_of: Callable[[str], Expression]) -> None:
    from pyspark.errors import AnalysisException

    frame = spark.range(1).selectExpr("5 AS n")

    def by_spark(form: str) -> bool:
        try:
            return bool(frame.selectExpr(f"to_char(n, '{form}')").schema)
        except AnalysisException:
            return False

    def by_us(form: str) -> bool:
        try:
            return bool(expression_of(f"to_char(n, '{form}')").sql)
        except PredicateError:
            return False

    assert {form: by_us(form) for form in FORMS} == {form: by_spark(form) for form in FORMS}
