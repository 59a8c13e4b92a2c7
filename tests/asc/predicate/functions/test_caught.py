"""What can throw in Spark is NULL as it is caught, and else what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.predicate.functions.caught import caught_bytes, caught_date, caught_instant, caught_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_each_names_what_it_catches_once() -> None:
    for caught in (caught_bytes, caught_date, caught_instant, caught_text):
        assert caught("xyz").count("xyz") == 1


CAUGHT = (
    (caught_date("last_day(d)"), "last_day(d)"),
    (caught_date("add_months(d, 1)"), "add_months(d, 1)"),
    (caught_instant("timestamp_seconds(n)"), "timestamp_seconds(n)"),
    (caught_instant("date_trunc('YEAR', timestamp_micros(n))"), "date_trunc('YEAR', timestamp_micros(n))"),
    (caught_bytes("unbase64(s)"), "unbase64(s)"),
    (caught_text("url_decode(s)"), "url_decode(s)"),
    (caught_text("decode(unhex(s), 'UTF-8')"), "decode(unhex(s), 'UTF-8')"),
    (caught_bytes("encode(s, 'utf-16')"), "encode(s, 'utf-16')"),
)


@pytest.mark.parametrize("policy", ["CORRECTED", "EXCEPTION"])
def test_what_throws_is_null_and_what_does_not_is_itself(spark: SparkSession, policy: str) -> None:
    well = "(DATE '2020-02-05', 5L, '6162'), (DATE '0001-01-01', -1L, 'YWJj')"
    badly = "(date_from_unix_date(2147483647), -9223372036854775808L, '%zz')"
    spark.conf.set("spark.sql.legacy.timeParserPolicy", policy)
    try:
        same = spark.sql(f"SELECT * FROM VALUES {well} AS v(d, n, s)").coalesce(1).localCheckpoint()
        differing = " OR ".join(f"NOT (({caught}) <=> ({call}))" for caught, call in CAUGHT)
        assert same.where(differing).count() == 0
        assert same.where(" OR ".join(f"({caught}) IS NULL" for caught, _ in CAUGHT)).count() <= 1
        thrown = spark.sql(f"SELECT * FROM VALUES {badly} AS v(d, n, s)").coalesce(1).localCheckpoint()
        # Twice each, as predicates share them: Spark computes beforehand what stands twice, if it may.
        twice = [f"({caught}) IS NULL AND NOT coalesce(({caught}) = ({caught}), FALSE)" for caught, _ in CAUGHT[:-2]]
        assert thrown.where(" AND ".join(twice)).count() == 1
    finally:
        spark.conf.unset("spark.sql.legacy.timeParserPolicy")
