"""The plot of Figure 8: the micro ratio and the relative cost."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from bench.interval import Interval
from bench.plot import saved


def plot_micro_arrows(result: dict[str, Any], path: Path) -> bool:
    """Draw the micro ratio and the relative cost over the standard deviation: one point per seed, and the line of the
    means with 95 % intervals, as in the table.
    """
    cases = result["results"]["cases"]
    steps = result["parameters"]["concentrations"]

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, 2)
        for axes, key, name, colour in (
            (panels[0], "micro_ratio", "Hybrid", "tab:green"),
            (panels[0], "refined_micro_ratio", "Hybrid, refined (ours)", "tab:purple"),
            (panels[1], "relative_cost", "Hybrid", "tab:green"),
            (panels[1], "refined_relative_cost", "Hybrid, refined (ours)", "tab:purple"),
        ):
            xs = [case["realised"]["deviation"] for case in cases]
            axes.scatter(xs, [case[key] for case in cases], color=colour, alpha=0.2)
            groups = [[case for case in cases if case["concentration"] == step] for step in steps]
            up = [Interval.of([case[key] for case in group]) for group in groups]
            axes.errorbar(
                [statistics.fmean(case["realised"]["deviation"] for case in group) for group in groups],
                [own.mean for own in up],
                [own.half for own in up],
                color=colour,
                marker="o",
                capsize=3,
                label=f"{name}, mean of the seeds",
            )
        panels[1].axhline(1, color="0.5", linestyle="--", label="Hybrid costs as much as Macro")
        panels[0].set_ylabel("micro ratio xi: share of micro-arrows\namong the arrows followed")
        panels[1].set_ylabel("relative cost omega = Hybrid / Macro")
        for axes in panels:
            axes.set_xlabel("standard deviation of the ones a region")
            axes.grid(visible=True, alpha=0.2)
            axes.legend()
        figure.suptitle("Micro-arrows on D1 by how unlike the regions of a construct are (mu = 0)")

    return saved(path, (11, 4.5), draw)
