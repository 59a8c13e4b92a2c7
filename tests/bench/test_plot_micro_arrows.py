"""The plot of Figure 8: a point for each seed, a line through the means."""

from __future__ import annotations

from pathlib import Path

from bench.plot_micro_arrows import plot_micro_arrows


def test_both_figures_of_both_kinds(tmp_path: Path) -> None:
    cases = [
        {
            "concentration": step,
            "realised": {"deviation": 10 * step + seed},
            "micro_ratio": 0.4,
            "refined_micro_ratio": 0.1,
            "relative_cost": 1.1,
            "refined_relative_cost": 0.9,
        }
        for step in (0.0, 1.0)
        for seed in (1, 2)
    ]
    result = {"results": {"cases": cases}, "parameters": {"concentrations": [0.0, 1.0]}}
    assert plot_micro_arrows(result, tmp_path / "eight")
    drawn = (tmp_path / "eight.svg").read_text("utf-8")
    for text, times in (
        ("Hybrid, mean of the seeds", 2),
        ("Hybrid, refined (ours), mean of the seeds", 2),
        ("Hybrid costs as much as Macro", 1),
    ):
        assert drawn.count(f"<!-- {text} -->") == times
