"""LIKE patterns that a record brings: what they become, and which are NULL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.predicate.regex.like_of_record import like_regex_of_record
from tests.asc.predicate.differing import accepted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_the_regular_expression_of_a_pattern(spark: SparkSession) -> None:
    made = {
        "": r"(?s)\A(?>\z)",
        "a%b_c": r"(?s)\A(?>a)(?>.*?b.c\z)",
        "%%a%": r"(?s)\A(?>)(?>.*?a)(?>.*?\z)",
        "/%/_//(.)": r"(?s)\A(?>%_\/\(\.\)\z)",
        "\U0001f600": r"(?s)\A(?>(?!)\z)",
        "a/": None,
    }
    df = spark.createDataFrame([(pattern,) for pattern in made], "p STRING")
    rows = df.selectExpr("p", f"{like_regex_of_record('p', '/')} AS regex").collect()
    assert {row.p: row.regex for row in rows} == made


@pytest.mark.spark
def test_like_patterns_that_are_malformed_or_long_are_null(spark: SparkSession) -> None:
    patterns = ["a\\b", "a\\", "\\\\\\", "\ufdd0", "x" * 101, "x" * 100, "%" * 100]
    df = spark.createDataFrame([(i, "x" * 100, p) for i, p in enumerate(patterns)], "id INT, s STRING, p STRING")
    found = accepted(df.localCheckpoint(), ["(s LIKE p) IS NULL", "s LIKE p"], "s STRING, p STRING")
    assert found == [{0, 1, 2, 3, 4}, {5, 6}]


@pytest.mark.spark
def test_a_long_text_is_read_once_for_patterns_of_the_record(spark: SparkSession) -> None:
    rows = [
        (0, "ab" * 100_000, "%a" * 49),
        (1, "ab" * 100_000, "%" + "_" * 98 + "c"),
        (2, "a" * 200_000, "%ab%ab%ab%c"),
    ]
    df = spark.createDataFrame(rows, "id INT, s STRING, p STRING").localCheckpoint()
    assert accepted(df, ["s LIKE p", "s NOT LIKE p"], "s STRING, p STRING") == [set(), {0, 1, 2}]
