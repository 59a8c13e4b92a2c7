"""The benchmark of many standing queries, once at a size that measures nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench.standing

pytestmark = [pytest.mark.nightly, pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(900)]


def test_a_load_changes_and_starts_are_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.standing, "QUICK", bench.standing.Size((5_500,), 6, 1, 20.0))
    result = bench.standing.run(quick=True, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "standing.json").read_text("utf-8"))
    (found,) = result["results"]
    assert all(value > 0 for value in found.values())
    assert found["change_p50_s"] <= found["change_p99_s"] <= found["change_worst_s"]
    assert "5,500" in bench.standing.table(result)
