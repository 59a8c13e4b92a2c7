"""The plot of records per second over the number of views."""

from __future__ import annotations

from pathlib import Path

from bench.plot_views import plot_views


def test_it_has_a_line_for_each_length_of_panes(tmp_path: Path) -> None:
    results = [
        {"grain": grain, "views": count, "records_a_s": 1e6} for grain in ("minute", "hour") for count in (1, 30)
    ]
    assert plot_views({"results": results}, tmp_path / "views")
    drawn = (tmp_path / "views.svg").read_text("utf-8")
    assert "views with panes of one minute" in drawn
    assert "views with panes of one hour" in drawn
