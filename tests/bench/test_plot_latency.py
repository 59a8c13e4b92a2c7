"""The plot of latency over time."""

from __future__ import annotations

from pathlib import Path

from bench.plot_latency import plot_latency


def test_a_panel_a_load_and_a_line_each_number_of_queries(tmp_path: Path) -> None:
    timeline = [{"second": second, "p50_s": 0.3, "p99_s": 0.6, "worst_s": 0.7} for second in range(5)]
    counted = {"counts": [3, 1], "edges_s": [0.1, 1.0, 10.0]}
    of_all = {"changes": 0, "timeline": timeline, "histogram": counted}
    runs = [{"queries": queries, "rate": rate, **of_all} for queries in (10, 1_000) for rate in (100, 2000)]
    amid_changes = {**runs[0], "changes": 5}
    assert not plot_latency({"results": [amid_changes], "floor": []}, tmp_path / "latency")
    floor = [{"variant": "sink", "rate": 100, "p50_s": 0.2, "p99_s": 0.3, "worst_s": 0.4}]
    assert plot_latency({"results": runs, "floor": floor}, tmp_path / "latency")
    drawn = (tmp_path / "latency.svg").read_text("utf-8")
    for text in (
        "100 records/s",
        "2,000 records/s",
        "10 queries",
        "1,000 queries",
        "seconds since ready",
        "% of the deliveries",
    ):
        assert f"<!-- {text} -->" in drawn
