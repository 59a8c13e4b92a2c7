"""Patterns of times that a record brings, against Spark."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest

from asc.predicate.functions.time_pattern import MAX_PATTERN_CHARS
from tests.asc.predicate.differing import Differing, accepted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TIME_PATTERNS = (
    *(
        "yyyy-MM-dd",
        "yyyy-MM-dd HH:mm:ss",
        "dd.MM.yyyy",
        "EEEE",
        "VV zzzz O",
        "[yyyy][-MM]",
        "'T'HH",
        "G y",
        "D",
        "SSS",
    ),
    None,
)
OF_TIME = r"""
date_format(ts, p) = '2024-02-29'
date_format(day, p) LIKE '%Thursday%'
date_format(ts, p) LIKE '%Universal%'
from_unixtime(n, p) = '1970-01-01'
to_char(ts, p) = '29.02.2024'
date_format(ts, concat('yyyy', '-MM')) = '2024-02'
date_format(ts, p || ' HH') = '2024-02-29 12'
"""
READ = ("to_date(s, {p})", "to_timestamp(s, {p})", "to_timestamp_ntz(s, {p})", "unix_timestamp(s, {p})")


def test_patterns_of_times_of_the_record(differing: Differing) -> None:
    day, instant = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 30, tzinfo=dt.timezone.utc)
    rows = [(instant, day, 5, "2024-02-29", pattern) for pattern in TIME_PATTERNS]
    ddl = "ts TIMESTAMP, day DATE, n INT, s STRING, p STRING"
    assert differing(ddl, rows, OF_TIME.strip().splitlines()) == []
    # Some letters are of patterns to write with alone: Spark throws where it is to read with them.
    readable = [row for row in rows if row[-1] != "EEEE"]
    texts = [
        f"{call.format(p=p)} IS {no}NULL"
        for call in READ
        for p in ("p", "concat('yyyy', '-MM-dd')")
        for no in ("", "NOT ")
    ]
    assert differing(ddl, readable, texts) == []


def test_patterns_of_times_that_spark_throws_for_or_are_long_are_null(spark: SparkSession) -> None:
    patterns = [
        "YYYY",
        "yyyyyyyyyyyy",
        "'",
        "[",
        "{",
        "b",
        "e",
        *map("yyyy".ljust, (MAX_PATTERN_CHARS + 1, MAX_PATTERN_CHARS)),
    ]
    df = spark.createDataFrame([(i, p, 5) for i, p in enumerate(patterns)], "id INT, p STRING, n INT")
    df = df.selectExpr("*", "TIMESTAMP '2024-02-29 12:30:00' AS ts", "'2024' AS s").localCheckpoint()
    texts = [
        f"coalesce(CAST({call} AS STRING), 'none') = 'none'"
        for call in (
            *("date_format(ts, p)", "from_unixtime(n, p)", "to_char(ts, p)", "to_date(s, p)", "to_timestamp(s, p)"),
            *("try_to_timestamp(s, p)", "unix_timestamp(s, p)", "to_timestamp_ntz(s, p)"),
        )
    ]
    found = accepted(df, texts, "p STRING, n INT, ts TIMESTAMP, s STRING")
    assert [own & {0, 1, 2, 4, 5, 6, 7} for own in found] == [{0, 1, 2, 4, 5, 6, 7}] * len(texts)
    assert all(8 not in own for own in found[:3])
