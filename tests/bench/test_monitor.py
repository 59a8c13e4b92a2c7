"""The benchmark of the monitor, once at a size that measures nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import bench.drifting
import bench.monitor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.nightly
@pytest.mark.slow
def test_the_monitor_measures_in_two_of_three_modes(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.monitor, "QUICK", bench.monitor.Size(12_000, (30,), 3, 0))
    results = bench.monitor.run(quick=True, output_dir=tmp_path, part="cost")
    (result,) = results.values()
    assert result == json.loads((tmp_path / "monitor.json").read_text("utf-8"))
    for suffix in ("png", "svg"):
        assert (tmp_path / f"monitor.{suffix}").stat().st_size > 1_000
    (modes,) = result["results"].values()
    # Whether anything is put in place hangs on what was faster.
    assert modes["off"]["rearrangements"] == modes["off"]["monitor_s"] == 0
    assert modes["measuring"]["monitor_s"] > 0
    assert modes["on"]["monitor_s"] > 0
    assert "rearranged" in bench.monitor.table(results)


@pytest.mark.nightly
def test_the_gain_alone_needs_no_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.drifting, "QUICK", bench.drifting.Size({60: (1, 300)}, 2, 2, 1, 1, 300))
    results = bench.monitor.run(quick=True, output_dir=tmp_path, part="gain")
    assert list(results) == ["monitor-drifting"]
    assert "the monitor on against off" in bench.monitor.table(results)
