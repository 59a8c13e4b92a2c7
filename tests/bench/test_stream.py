"""The benchmark of a backlog, once at a size that measures nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench.stream
from bench.stream import BARE, LOOP, Size


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(600)
def test_a_backlog_is_drained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.stream, "QUICK", Size(((10, 3_000),), 500))
    result = bench.stream.run(quick=True, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "stream.json").read_text("utf-8"))
    (run,) = result["results"]
    assert run["backlog"] == 3_000
    assert 0 < run["records"] <= 3_000
    assert run["peak_bytes"] > 100_000_000
    assert 0 < result[BARE]["records"] <= 3_000
    assert result[LOOP][0]["records"] > 0
    assert "x the bare Spark job" in bench.stream.table(result)
