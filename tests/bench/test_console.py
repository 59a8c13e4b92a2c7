"""The benchmark of the console, once at a size that measures nothing: a daemon, its pages, a stream looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench.console
from bench.console import PAGES, Size


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(600)
def test_every_page_is_asked_for_and_the_stream_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.console, "QUICK", Size(100, 2, 40_000, 500, 1, 0.2, 1))
    result = bench.console.run(quick=True, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "console.json").read_text("utf-8"))
    assert [each["page"] for each in result["pages"]] == list(PAGES)
    assert all(0 < each["median_s"] <= each["worst_s"] and each["size_bytes"] > 100 for each in result["pages"])
    stream = result["stream"]
    assert stream["alone_records_a_s"] > 0
    assert stream["looked_at_records_a_s"] > 0
    assert stream["loss"]["low"] <= stream["loss"]["share"] <= stream["loss"]["high"]
    shown = bench.console.table(result)
    assert "search: a text that none has" in shown
    assert "looked at by 1 browsers and Prometheus" in shown
