"""The benchmark of plans in Spark, once at a size that measures nothing, and the ratios under its table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import bench.spark
from bench.spark import BARE, FILTER, MATCH, many_ratios, ratios, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.nightly
@pytest.mark.slow
def test_the_plans_find_the_same(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.spark, "QUICK", bench.spark.Size(5_000, (10,), (100, 1_000), 1))
    result = bench.spark.run(quick=True, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "spark.json").read_text("utf-8"))
    for suffix in ("png", "svg"):
        assert (tmp_path / f"spark.{suffix}").stat().st_size > 1_000
    (measured,) = result["results"].values()
    assert len({one["pairs"] for one in measured.values()} - {None}) == 1
    assert all(one["stopped_after_s"] is None for one in measured.values())
    assert "broker.match" in bench.spark.table(result)
    assert list(result["compiling_s"]) == ["10"]
    assert 0 < result["compiling_s"]["10"] < 60
    assert list(result["many"]) == ["100", "1000"] == list(result["compiling_many_s"])
    for one in result["many"].values():
        assert list(one) == [MATCH, BARE]
        assert one[MATCH]["to_bare"]["ratio"] > 0
        assert one[MATCH]["pairs"] > 0
    assert [(one["predicates"], one["goal"]) for one in result["many_ratios"]] == [(100, None), (1_000, 1.1)]
    assert "broker.match / bare transport at 1,000 alerts" in table(result).splitlines()[-1]


def measured(seconds: float | None, bare: float | None = None) -> dict[str, Any]:
    """A contender that took so long, or was stopped; with what the bare transport took, the ratio to it."""
    taken = {"stopped_after_s": 60.0} if seconds is None else {"stopped_after_s": None, "median_s": seconds}
    if seconds and bare:
        taken["to_bare"] = {"ratio": seconds / bare, "low": seconds / bare - 0.1, "high": seconds / bare + 0.1}
    return {"pairs": None, **taken}


@pytest.mark.parametrize(
    ("ours", "bare", "spark", "said"),
    [
        (1.31, 1.2, None, "broker.match / bare transport at 1,000: 1.09; filter(transform) / broker.match: over 45"),
        (1.2, 1.5, 30.0, "broker.match / bare transport at 1,000: 0.80; filter(transform) / broker.match: 25"),
        (2.0, None, 30.0, "broker.match / bare transport at 1,000: stopped; filter(transform) / broker.match: 15"),
        (None, 1.5, 30.0, "broker.match / bare transport at 1,000: stopped; filter(transform) / broker.match: stopped"),
    ],
)
def test_the_last_line_holds_them(ours: float | None, bare: float | None, spark: float | None, said: str) -> None:
    results = {
        "1000": {MATCH: measured(ours, bare), BARE: measured(bare), FILTER: measured(spark)},
        "100": {MATCH: measured(9.0), BARE: measured(1.0), FILTER: measured(1.0)},
    }
    many = {"1000": {MATCH: measured(1.2, 1.0), BARE: measured(1.0)}}
    result: dict[str, Any] = {
        "input": {"rows": 5, "columns": 20},
        "results": results,
        "compiling_s": {"100": 0.031, "1000": 0.3},
        "ratios": ratios(results),
        "many": many,
        "compiling_many_s": {"1000": 0.2},
        "many_ratios": many_ratios(many),
    }
    assert result["ratios"]["predicates"] == 1_000
    lines = table(result).splitlines()
    place = lines.index(said)
    assert lines[place - 1] == "predicates compiled from text, beside it: 100 in 0.03 s, 1,000 in 0.30 s"
    assert lines[-2:] == [
        "alerts compiled from text, beside it: 1,000 in 0.20 s",
        "broker.match / bare transport at 1,000 alerts: 1.20 (1.10 .. 1.30); within 1.1: not met",
    ]


def test_a_ratio_is_told_where_both_ran_and_a_goal_where_there_is_one() -> None:
    many = {
        "1000": {MATCH: measured(1.0, 1.0), BARE: measured(1.0)},
        "10000": {MATCH: measured(9.0, 1.0), BARE: measured(1.0)},
        "100000": {MATCH: measured(None), BARE: measured(1.0)},
    }
    assert [(one["predicates"], one["met"]) for one in many_ratios(many)] == [(1_000, True), (10_000, None)]
