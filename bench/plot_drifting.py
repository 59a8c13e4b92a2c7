"""The plot of the matching time that the monitor saves on streams whose distribution changes slowly."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from bench.interval import Interval
from bench.plot import saved

STYLES = {
    "static": ("static (monitor off)", "0.5", "v"),
    "macro": ("macro", "tab:blue", "o"),
    "hybrid": ("hybrid", "tab:green", "D"),
    "best fixed": ("best fixed", "0.1", "^"),
    "monitor on": ("monitor on", "tab:red", "s"),
}
"""The label, colour and marker of each contestant, which are the same in every panel."""


def plot_drifting(result: dict[str, Any], path: Path) -> bool:
    """Draw a row of panels for each kind of alerts.

    The first panel has microseconds per tuple over the number of queries, with the intervals of the table. The next
    panels, one per number of queries, have microseconds per tuple over the stream.
    """
    scenarios: dict[str, str] = result["scenarios"]
    counts = sorted({own["queries"] for own in result["summary"]})

    def draw(figure: Any) -> None:
        panels = figure.subplots(len(scenarios), 1 + len(counts), squeeze=False)
        for axes, (name, title) in zip(panels, scenarios.items(), strict=True):
            _over_queries(axes[0], [own for own in result["summary"] if own["scenario"] == name], title)
            for own_axes, count in zip(axes[1:], counts, strict=True):
                cases = [case for case in result["cases"] if (case["scenario"], case["queries"]) == (name, count)]
                _over_stream(own_axes, cases, result["size"], f"{count:,} queries")
        panels[0][0].legend()

    return saved(path, (4.5 * (1 + len(counts)), 4 * len(scenarios)), draw)


def _over_queries(axes: Any, summary: list[dict[str, Any]], title: str) -> None:
    for name, (label, colour, marker) in STYLES.items():
        found = [Interval(**own["us"][name]) for own in summary]
        axes.errorbar(
            [own["queries"] for own in summary],
            [own.mean for own in found],
            [own.half for own in found],
            label=label,
            color=colour,
            marker=marker,
            capsize=3,
        )
    axes.set(xscale="log", yscale="log", xlabel="queries", ylabel="us a tuple, one thread", title=title)
    axes.grid(visible=True, which="both", alpha=0.2)


def _over_stream(axes: Any, cases: list[dict[str, Any]], size: dict[str, Any], title: str) -> None:
    """Draw a line for each contestant over the batches of the stream: the mean over the seeds of the microseconds per
    tuple.
    """
    for name, (label, colour, _) in STYLES.items():
        courses = zip(*(case["course_us"][name] for case in cases), strict=True)
        means = [statistics.fmean(batch) for batch in courses]
        places = [(number + 0.5) / size["batches"] for number in range(len(means))]
        axes.plot(places, means, color=colour, label=label)
    for segment in range(size["segments"] + 1):
        axes.axvline(segment, color="0.85", zorder=0)
    axes.set(xlabel="segments of the stream", ylabel="us a tuple, mean of the seeds", ylim=(0, None), title=title)
    axes.grid(visible=True, axis="y", alpha=0.2)
