"""The plot of many standing queries."""

from __future__ import annotations

from pathlib import Path

from bench.plot_standing import plot_standing


def test_it_is_drawn(tmp_path: Path) -> None:
    names = ("load_s", "ready_s", "ready_without_s", "change_p50_s", "change_p99_s")
    runs = [{"queries": count, **dict.fromkeys(names, 0.5)} for count in (10, 1_000)]
    assert plot_standing({"results": runs}, tmp_path / "standing")
    assert "standing queries" in (tmp_path / "standing.svg").read_text("utf-8")
