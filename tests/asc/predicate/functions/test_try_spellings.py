"""What can throw in Spark is NULL as it is caught, and else what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.predicate.functions.try_spellings import caught_bytes, caught_date, caught_instant, caught_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_each_names_what_it_catches_once() -> None:
    for caught in (caught_bytes, caught_date, caught_instant, caught_text):
        assert caught("xyz").count("xyz") == 1


THROWING = (
    (caught_date("trunc(d, 'QUARTER')"), "trunc(d, 'QUARTER')"),
    (caught_date("add_months(d, -5)"), "add_months(d, -5)"),
    (caught_instant("timestamp_seconds(n)"), "timestamp_seconds(n)"),
    (caught_instant("date_trunc('YEAR', timestamp_micros(n))"), "date_trunc('YEAR', timestamp_micros(n))"),
    (caught_bytes("unbase64(s)"), "unbase64(s)"),
    (caught_text("url_decode(s)"), "url_decode(s)"),
    (caught_text("decode(raw, 'UTF-8')"), "decode(raw, 'UTF-8')"),
    (caught_bytes("encode(t, 'ISO-8859-1')"), "encode(t, 'ISO-8859-1')"),
)
"""What is caught and the call itself, which throws for the values of BADLY and not for those of WELL."""
WELL = "(DATE '2020-02-05', 5L, '6162', X'C3A9', '\u00e9'), (DATE '0001-01-01', -1L, 'YWJj', X'', '')"
BADLY = "(date_from_unix_date(-2147483648), -9223372036854775808L, '%z=', X'FF', '\u4eac')"


@pytest.mark.parametrize("policy", ["CORRECTED", "EXCEPTION"])
def test_what_throws_is_null_and_what_does_not_is_itself(spark: SparkSession, policy: str) -> None:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    session = spark.newSession()
    session.conf.set("spark.sql.legacy.timeParserPolicy", policy)
    well, badly = (
        session.sql(f"SELECT * FROM VALUES {rows} AS v(d, n, s, raw, t)").coalesce(1).localCheckpoint()
        for rows in (WELL, BADLY)
    )
    assert well.where(" OR ".join(f"NOT (({caught}) <=> ({call}))" for caught, call in THROWING)).count() == 0
    assert well.where(" OR ".join(f"({caught}) IS NULL" for caught, _ in THROWING)).count() == 0
    for _, call in THROWING:
        with pytest.raises((PySparkException, Py4JJavaError)):
            badly.selectExpr(call).collect()
    # Twice each, as predicates share them: Spark computes beforehand what stands twice, if it may.
    twice = [f"({caught}) IS NULL AND NOT coalesce(({caught}) = ({caught}), FALSE)" for caught, _ in THROWING]
    assert badly.where(" AND ".join(twice)).count() == 1
