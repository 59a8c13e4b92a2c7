"""Plots: saved twice, the same for the same result, and none without matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.plot import plot_match, plot_monitor, plot_spark, saved


def line(figure: Any) -> None:
    figure.subplots().plot([1, 2], [3, 4], label="a line")


def test_the_same_result_gives_the_same_files(tmp_path: Path) -> None:
    assert saved(tmp_path / "first.one", (2, 2), line)
    assert saved(tmp_path / "second", (2, 2), line)
    for suffix in ("png", "svg"):
        first, second = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("first.one", "second"))
        assert first == second


def test_nothing_is_drawn_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.plot.find_spec", lambda _: None)
    assert not saved(tmp_path / "plot", (2, 2), line)
    assert list(tmp_path.iterdir()) == []


def texts(path: Path) -> str:
    """An SVG file, which names each text that it draws."""
    return path.with_suffix(".svg").read_text("utf-8")


def test_a_panel_for_each_workload(tmp_path: Path) -> None:
    rows = [
        {"workload": name, "queries": queries, "engine_ms": 0.1, "brute_force_ms": 1.0, "scan_ms": 2.0}
        for name in ("D1", "HEM-like", "mixed", "alerts")
        for queries in (10, 100)
    ]
    plot_match({"results": rows}, tmp_path / "match")
    drawn = texts(tmp_path / "match")
    for text in ("D1", "HEM-like", "mixed", "alerts", "engine", "brute force, vectorised", "scan with early exit"):
        assert f"<!-- {text} -->" in drawn


def test_a_plan_that_was_stopped_is_drawn_where_it_was(tmp_path: Path) -> None:
    done, stopped = {"median_s": 1.5, "stopped_after_s": None}, {"stopped_after_s": 60.0}
    results = {"10": {"ours": done, "theirs": done}, "100": {"ours": done, "theirs": stopped}}
    paired = {**done, "to_bare": {"ratio": 1.2, "low": 1.1, "high": 1.5}}
    many = {"1000": {"ours": paired, "bare": done}, "10000": {"ours": stopped, "bare": done}}
    plot_spark({"input": {"rows": 5_000, "columns": 20}, "results": results, "many": many}, tmp_path / "spark")
    drawn = texts(tmp_path / "spark")
    titles = ("5,000 rows x 20 int columns (hollow: stopped there)", "over the bare transport, 95 %")
    for text in ("ours", "theirs", "bare", "alerts", *titles):
        assert f"<!-- {text} -->" in drawn


def test_a_box_for_each_mode_of_the_monitor(tmp_path: Path) -> None:
    results = {count: {mode: {"runs_s": [0.5, 1.0]} for mode in ("off", "on")} for count in ("100", "1000")}
    plot_monitor({"input": {"rows": 10}, "results": results}, tmp_path / "monitor")
    drawn = texts(tmp_path / "monitor")
    for text in ("100 predicates", "1,000 predicates", "off", "on"):
        assert f"<!-- {text} -->" in drawn
