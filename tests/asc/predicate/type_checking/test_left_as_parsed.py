"""IS UNKNOWN of what is no condition, held against Spark: it refuses constants that its analyser leaves as they are."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from asc.errors import AscError
from asc.predicate import normalise
from asc.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.tiers import PartOf

DDL = """b BOOLEAN, n INT, big BIGINT, d DOUBLE, f FLOAT, dec DECIMAL(9,2), s STRING, bin BINARY, day DATE,
ts TIMESTAMP, list ARRAY<INT>, dict MAP<STRING, INT>, place STRUCT<x: INT, y: BOOLEAN>"""
SCHEMA = Schema.from_ddl(DDL)
COLUMNS = ("b", "n", "big", "d", "f", "dec", "s", "bin", "day", "ts", "list", "dict", "place", "place.x", "place.y")
CONSTANTS = [
    *("1", "2L", "1.5", "2.25", "1.5D", "1.5F", "'a'", "X'1F'", "true", "NULL", "DATE '0001-01-01'", "-1"),
    *("TIMESTAMP '2020-01-01 00:00:00'", "INTERVAL '1' DAY", "INTERVAL '1' YEAR"),
]
OF_ONE = (
    *("{0}", "-({0})", "+({0})", "~({0})", "struct({0})", "struct({0} AS a)", "struct({0}, n)", "({0})::STRING"),
    *("1 + (2 * {0})", "array({0})[0]", "CASE WHEN {0} IS NULL THEN 1 END", "CASE WHEN {0} IS UNKNOWN THEN 1 END"),
    *(
        "CASE WHEN true AND NOT false THEN {0} END",
        "CASE WHEN {0} IN (1) THEN 1 END",
        "CASE WHEN {0} <=> 1 THEN 'q' END",
    ),
    *("overlay('abc' PLACING 'x' FROM {0})", "substring('abc' FROM {0})", "trim(BOTH 'a' FROM {0})", "1 DIV {0}"),
    *("CASE WHEN {0} LIKE 'a' THEN 1 END", "CASE WHEN {0} BETWEEN 1 AND 2 THEN 1 END", "nvl({0}, {0})"),
)
OF_TWO = (
    *(f"{{0}} {op} {{1}}" for op in ("+", "-", "*", "/", "%", "&", "||", "=")),
    *("CASE WHEN true THEN {0} ELSE {1} END", "CASE WHEN b THEN {0} ELSE {1} END", "CASE {0} WHEN {1} THEN 1 END"),
    *("({0}, {1})", "position({0} IN {1})"),
)


def is_taken(text: str) -> bool:
    try:
        normalise(text, SCHEMA)
    except AscError:
        return False
    return True


@pytest.fixture(scope="module")
def empty(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], DDL)


def is_taken_by_spark(frame: DataFrame, text: str) -> bool:
    from pyspark.errors import PySparkException

    try:
        frame.filter(text)
    except PySparkException:
        return False
    return True


@pytest.mark.parametrize(
    "operand", ["0", "DATE '0001-01-01'", "1 + 1", "'a' || 'b'", "(1, 2)", "-INTERVAL '1' DAY", "~1"]
)
@pytest.mark.parametrize("test", ["IS UNKNOWN", "IS NOT UNKNOWN"])
def test_a_constant_that_is_no_condition_is_refused_without_spark(operand: str, test: str) -> None:
    with pytest.raises(AscError, match=r"^[^\n]*where a condition must stand"):
        normalise(f"{operand} {test}", SCHEMA)
    assert is_taken(f"({operand}) IS NULL") is is_taken(f"({operand}) IS NOT NULL")


@pytest.mark.spark
def test_tests_of_columns_and_constants_are_taken_as_spark_takes_them(empty: DataFrame) -> None:
    tests = ("IS UNKNOWN", "IS NOT UNKNOWN", "IS TRUE", "IS NOT FALSE", "IS NULL")
    texts = [f"{operand} {test}" for operand, test in product((*COLUMNS, *CONSTANTS), tests)]
    assert [text for text in texts if is_taken(text) is not is_taken_by_spark(empty, text)] == []


@pytest.mark.spark
def test_what_spark_refuses_of_constants_is_refused_here(empty: DataFrame, part_of: PartOf[str]) -> None:
    """Return the tests for NULL, and those that are refused here before Spark sees them, apart."""
    operands = [form.format(one) for form, one in product(OF_ONE, CONSTANTS)]
    operands += [form.format(*two) for form, two in product(OF_TWO, product(CONSTANTS, CONSTANTS))]
    differing = [
        operand
        for operand in part_of(operands, 60)
        if is_taken(f"({operand}) IS NULL")
        and is_taken(f"({operand}) IS UNKNOWN") is not is_taken_by_spark(empty, f"({operand}) IS UNKNOWN")
    ]
    assert differing == []
