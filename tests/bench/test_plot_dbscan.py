"""The plot of a case: processor time and memory by contender."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.dbscan_goals import EXTRA_N
from bench.dbscan_paper import OWN
from bench.plot_dbscan import plot_case


def test_a_case_is_drawn_under_its_figures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    results = [
        {"queries": count, "cpu_us": {OWN: count, EXTRA_N: 2 * count}, "bytes": {OWN: 1e6, EXTRA_N: 2e6}}
        for count in (10, 10, 100)
    ]
    assert plot_case("scale", {"results": results}, tmp_path)
    assert (tmp_path / "dbscan-figure-31-32.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "dbscan-figure-31-32.svg").read_text("utf-8")
