"""The plots of Figure 9, of the triggers and of the search: every line is there, whatever the number of seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.plot_adaptation import plot_search, plot_thresholds, plot_triggers

PARAMETERS: dict[str, Any] = {
    "mus": [0.0, "never"],
    "mu": 0.1,
    "sub_streams": 2,
    "length": 400,
    "point_tuples": 200,
    "period_tuples": 100,
}
RUN: dict[str, Any] = {"points": [3.0, 2.0, 4.0, 2.5], "settled": [2.0, 2.5], "rearrangements": [{}, {}]}


def comments(path: Path) -> str:
    """An SVG file, which names each text that it draws."""
    return path.with_suffix(".svg").read_text("utf-8")


def test_a_line_for_each_mu_and_a_panel_for_each_sequence(tmp_path: Path) -> None:
    runs = [{**RUN, "sequence": kind, "mu": mu} for kind in ("Macro", "Hybrid") for mu in PARAMETERS["mus"]]
    runs += [{**RUN, "sequence": "Macro", "mu": 0.0, "rearrangements": []}]
    plot_thresholds({"results": {"runs": runs}, "parameters": PARAMETERS}, tmp_path / "nine")
    drawn = comments(tmp_path / "nine")
    for text in (
        "Macro, lambda = 100, trigger: dropping ratio",
        "Hybrid, lambda = 100, trigger: dropping ratio",
        "mu = 0.0 (1.0 rearrangements)",
        "mu = 0.0 (2.0 rearrangements)",
        "never rearranged (2.0 rearrangements)",
        "found on the sub-stream itself",
        "D1",
        "D2",
    ):
        assert f"<!-- {text} -->" in drawn


def test_a_line_for_each_trigger(tmp_path: Path) -> None:
    runs = [{**RUN, "trigger": trigger} for trigger in ("cost", "none")]
    plot_triggers({"results": {"runs": runs}, "parameters": PARAMETERS}, tmp_path / "triggers")
    drawn = comments(tmp_path / "triggers")
    for text in ("trigger: cost (2.0 rearrangements)", "trigger: none (2.0 rearrangements)", "as drawn", "mirrored"):
        assert f"<!-- {text} -->" in drawn


def test_a_line_for_each_kind_of_sequence(tmp_path: Path) -> None:
    cases = [
        {"queries": queries, "median_s": {"Macro": 0.1 * seed, "Hybrid": 0.2}}
        for queries in (100, 1_000)
        for seed in (1, 2)
    ]
    parameters = {"queries": [100, 1_000], "sample_tuples": 10_000, "p_attributes": 20}
    plot_search({"results": {"cases": cases}, "parameters": parameters}, tmp_path / "search")
    drawn = comments(tmp_path / "search")
    for text in ("Macro", "Hybrid", "1,000", "Finding a sequence from 10,000 tuples x 20 p-attributes"):
        assert f"<!-- {text} -->" in drawn
