"""The benchmarks that run Spark, once at a size that measures nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import bench.monitor
import bench.spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def written(folder: Path, name: str) -> Any:
    for suffix in ("png", "svg"):
        assert (folder / f"{name}.{suffix}").stat().st_size > 1_000
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def test_the_plans_find_the_same(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.spark, "QUICK", bench.spark.Size(5_000, (10,), 1))
    result = bench.spark.run(quick=True, output_dir=tmp_path)
    assert result == written(tmp_path, "spark")
    (measured,) = result["results"].values()
    assert len({one["pairs"] for one in measured.values()} - {None}) == 1
    assert all(one["stopped_after_s"] is None for one in measured.values())
    assert "broker.match" in bench.spark.table(result)


def test_the_monitor_measures_in_two_of_three_modes(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.monitor, "QUICK", bench.monitor.Size(12_000, (30,), 3, 0))
    result = bench.monitor.run(quick=True, output_dir=tmp_path)
    assert result == written(tmp_path, "monitor")
    (modes,) = result["results"].values()
    assert modes["off"]["rearrangements"] == 0
    assert modes["measuring"]["rearrangements"] > 0
    assert modes["on"]["rearrangements"] > 0
    assert "rearranged" in bench.monitor.table(result)
