"""The plot of streams that drift: every contestant, kind of alerts and number of queries is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.drifting_contest import CONTESTANTS
from bench.plot_drifting import STYLES, plot_drifting


def test_every_contestant_has_a_style_of_its_own() -> None:
    assert tuple(STYLES) == CONTESTANTS
    for place in range(3):
        assert len({style[place] for style in STYLES.values()}) == len(STYLES)


@pytest.mark.nightly
def test_a_row_for_each_kind_of_alerts_and_a_panel_for_each_number(tmp_path: Path) -> None:
    interval = {"mean": 1.0, "low": 0.9, "high": 1.1}
    groups = [(name, queries) for name in ("any", "placed") for queries in (1_000, 10_000)]
    us = dict.fromkeys(CONTESTANTS, interval)
    course = {name: [1.0, 2.0] for name in CONTESTANTS}
    result = {
        "scenarios": {"any": "on any", "placed": "on few"},
        "size": {"segments": 1, "batches": 2},
        "summary": [{"scenario": name, "queries": queries, "us": us} for name, queries in groups],
        "cases": [{"scenario": name, "queries": queries, "course_us": course} for name, queries in groups],
    }
    assert plot_drifting(result, tmp_path / "drifting")
    drawn = (tmp_path / "drifting.svg").read_text("utf-8")
    for text in ("on any", "on few", "1,000 queries", "10,000 queries", "static (monitor off)", "monitor on"):
        assert f"<!-- {text} -->" in drawn
