"""The benchmark of plans in Spark, once at a size that measures nothing, and the ratios under its table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import bench.spark
from bench.spark import BARE, FILTER, MATCH, ratios, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.slow
def test_the_plans_find_the_same(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.spark, "QUICK", bench.spark.Size(5_000, (10,), 1))
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


def measured(seconds: float | None) -> dict[str, Any]:
    """A contender that took so long, or was stopped."""
    taken = {"stopped_after_s": 60.0} if seconds is None else {"stopped_after_s": None, "median_s": seconds}
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
        "1000": {MATCH: measured(ours), BARE: measured(bare), FILTER: measured(spark)},
        "100": {MATCH: measured(9.0), BARE: measured(1.0), FILTER: measured(1.0)},
    }
    result: dict[str, Any] = {
        "input": {"rows": 5, "columns": 20},
        "results": results,
        "compiling_s": {"100": 0.031, "1000": 0.3},
        "ratios": ratios(results),
    }
    assert result["ratios"]["predicates"] == 1_000
    assert table(result).splitlines()[-2:] == [
        "predicates compiled from text, beside it: 100 in 0.03 s, 1,000 in 0.30 s",
        said,
    ]
