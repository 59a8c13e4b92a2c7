"""The benchmark of events, once at a size that measures nothing: both ways tell the same events."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench.events
from bench.events import Size


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_both_ways_tell_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.events, "QUICK", Size(64, 2))
    result = bench.events.run(quick=True, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "events.json").read_text("utf-8"))
    assert result["events"] > 0
    for place in ("spark", "python"):
        assert [each["way"] for each in result[place]] == ["by part", "by object"]
    assert "by object in Spark" in bench.events.table(result)
