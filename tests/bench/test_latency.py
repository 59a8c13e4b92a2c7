"""The benchmark of latency, once at a size that measures nothing: daemons, loads, the floor."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import bench.latency
from bench.latency import Size, histogram, timeline
from bench.traffic import Received


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(600)
def test_every_load_is_received(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A load without changes has a daemon more to start, and nothing that this one has not.
    monkeypatch.setattr(bench.latency, "QUICK", Size((10,), (), 6.0, 50, 5, 50))
    result = bench.latency.run(quick=True, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "latency.json").read_text("utf-8"))
    (run,) = result["results"]
    assert run["changes"] == 5
    assert sum(run["histogram"]["counts"]) > 0
    assert run["deliveries"] == pytest.approx(1.5 * run["sent"], rel=0.3)
    assert 0 < run["p50_s"] <= run["p99_s"] <= run["worst_s"]
    assert {"bind", "build", "run", "log", "commit"} <= run["phases"].keys()
    assert [each["variant"] for each in result["floor"]] == ["foreachBatch", "sink"]
    assert "the smallest job of Spark, sink" in bench.latency.table(result)


def test_the_timeline_is_by_the_second_a_record_was_made_in() -> None:
    sent = np.array([10.1, 10.9, 12.5])
    found = timeline(Received(sent, sent + np.array([0.5, 0.5, 2.0])), 10.0, 4.0)
    assert [(point["second"], point["p50_s"]) for point in found] == [(0, 0.5), (2, 2.0)]


def test_the_histogram_counts_every_delivery() -> None:
    found = histogram(np.array([0.0001, 0.25, 0.26, 1000.0]))
    assert sum(found["counts"]) == 4
    assert found["counts"][0] == found["counts"][-1] == 1
    assert len(found["edges_s"]) == len(found["counts"]) + 1
