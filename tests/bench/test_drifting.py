"""Streams that drift, once and small: what the result holds, and what is said of it from the figures alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bench.drifting
from bench.drifting import SCENARIOS, Size, table, verdicts
from bench.drifting_contest import CONTESTANTS, OFF, ON


@pytest.mark.nightly
def test_a_result_and_how_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.drifting, "QUICK", Size({60: (2, 300), 90: (1, 200)}, 2, 3, 1, 1, 300))
    result = bench.drifting.run(quick=True, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "monitor-drifting.json").read_text("utf-8"))
    for suffix in ("png", "svg"):
        assert (tmp_path / f"monitor-drifting.{suffix}").stat().st_size > 1_000
    groups = [(own["scenario"], own["queries"], own["seeds"]) for own in result["summary"]]
    assert groups == [(name, queries, seeds) for name in SCENARIOS for queries, seeds in ((60, 2), (90, 1))]
    assert len(result["cases"]) == sum(seeds for _, _, seeds in groups)
    for case in result["cases"]:
        assert set(case["course_us"]) == set(CONTESTANTS)
        for name, course in case["course_us"].items():
            assert len(course) == 6
            assert case["us"][name] == pytest.approx(sum(course) / 6, abs=1e-4)
    for own in result["summary"]:
        cases = [
            one for one in result["cases"] if (one["scenario"], one["queries"]) == (own["scenario"], own["queries"])
        ]
        ratios = [case["us"][OFF] / case["us"][ON] for case in cases]
        assert own["gain"]["mean"] == pytest.approx(sum(ratios) / len(ratios))
        assert own["net"]["mean"] <= own["gain"]["mean"]
        assert 0 <= own["share"]["mean"] < 1
    text = table(result)
    assert text.count("the monitor on is") == len(groups)
    assert "static is also what runs with the monitor off" in text


def summary(seeds: int, **ratios: tuple[float, float]) -> dict[str, Any]:
    """A group of which the gain, the gain over the best fixed order and the net gain lie between two figures."""
    intervals = {key: {"mean": sum(ends) / 2, "low": ends[0], "high": ends[1]} for key, ends in ratios.items()}
    return {"scenario": "any", "queries": 1_000, "seeds": seeds, **intervals}


def test_only_what_the_whole_interval_says_is_certain() -> None:
    ends = {"gain": (1.01, 1.2), "over_best": (0.9, 1.1), "net": (0.2, 0.4)}
    (line,) = verdicts([summary(10, **ends)])
    assert line == (
        "any, 1,000 queries: the monitor on is faster (1.010 to 1.200 times) than off, not certainly faster or slower "
        "than the best fixed order; its own time counted in, slower (0.200 to 0.400 times) than off"
    )


def test_one_seed_makes_nothing_certain() -> None:
    (line,) = verdicts([summary(1, gain=(2.0, 2.0), over_best=(2.0, 2.0), net=(0.5, 0.5))])
    assert line.count("not certainly faster or slower") == 3
