"""Contenders take turns, and one that takes too long is stopped and left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as sf

from bench.spark_contender import Contender, run_in_turns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def endless(spark: SparkSession) -> DataFrame:
    return spark.range(10**15).filter(sf.expr("id % 1000003 = -1"))


def test_they_take_turns(spark: SparkSession) -> None:
    made: list[str] = []

    def frame(name: str, rows: int) -> Any:
        def make() -> DataFrame:
            made.append(name)
            return spark.range(rows)

        return make

    contenders = [
        Contender("one", frame("one", 5), lambda found: found.count()),
        Contender("two", frame("two", 9), None, in_python=True),
    ]
    run_in_turns(spark, contenders, 2, "turns")
    # Once to warm up; in Python once more before each run that is measured.
    assert made == ["one", "two", *["one", "two", "two"] * 2]
    assert [contender.result()["pairs"] for contender in contenders] == [5, None]
    assert [len(contender.result()["runs_s"]) for contender in contenders] == [2, 2]


def test_those_that_disagree_are_no_result(spark: SparkSession) -> None:
    contenders = [Contender(str(rows), lambda rows=rows: spark.range(rows), lambda f: f.count()) for rows in (3, 4)]
    with pytest.raises(RuntimeError, match=r"disagree on the number of matches: {'3': 3, '4': 4}"):
        run_in_turns(spark, contenders, 1, "turns")


def test_one_that_takes_too_long_is_stopped(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.spark_contender.TIME_LIMIT_S", 0.5)
    slow = Contender("slow", lambda: endless(spark), None)
    run_in_turns(spark, [slow], 3, "turns")
    assert slow.stopped
    assert slow.result() == {"pairs": None, "stopped_after_s": 0.5}


def test_what_fails_by_itself_is_an_error(spark: SparkSession) -> None:
    failing = Contender("failing", lambda: spark.range(1).select(sf.raise_error(sf.lit("bad"))), None)
    with pytest.raises(Exception, match="bad"):
        run_in_turns(spark, [failing], 1, "turns")
