"""The map of the demonstration is drawn, and the same again."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.demo.crossings import Crossing
from cli.demo.map import draw_map
from workloads.aircraft import simulated

pytest.importorskip("matplotlib")


@pytest.mark.nightly
def test_the_same_flights_give_the_same_map(tmp_path: Path) -> None:
    aircraft, reports = simulated(10, duration_s=1_200)
    accepted = dict.fromkeys(("low-over-che", "near-zurich"), reports.altitude_ft < 30000)
    crossed = [Crossing(3, "CHE", "enter"), Crossing(9, "CHE", "exit"), Crossing(9, "AUT", "enter")]
    for name in ("once", "again"):
        assert draw_map(tmp_path / name, aircraft, reports, accepted, crossed)
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    drawn = (tmp_path / "once.svg").read_text("utf-8")
    assert drawn == (tmp_path / "again.svg").read_text("utf-8")
    assert drawn.count("<path") > 50
