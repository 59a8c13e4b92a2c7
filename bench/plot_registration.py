"""The plot of the time of a change of the standing queries. Nothing is drawn if matplotlib is not installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.plot import saved


def plot_registration(result: dict[str, Any], path: Path) -> bool:
    """Draw every run as a dot on a logarithmic axis of time. Each kind of change has a row with its median."""
    results = result["results"]

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for row, measured in enumerate(results.values()):
            median, runs = measured["median_s"], measured["runs_s"]
            axes.plot(runs, [row] * len(runs), "o", color="tab:blue", alpha=0.35, label="one run" if row == 0 else None)
            label = "median" if row == 0 else None
            axes.plot([median], [row], "|", color="black", markersize=18, markeredgewidth=2, label=label)
            axes.annotate(
                time_text(median), (median, row), (0, 12), textcoords="offset points", ha="center", fontsize=8
            )
        axes.set_yticks(range(len(results)), list(results))
        axes.set_ylim(len(results) - 0.5, -0.7)
        shown = [seconds for measured in results.values() for seconds in measured["runs_s"]]
        title = f"{result['queries']:,} standing queries, the stream idle"
        axes.set(xscale="log", xlim=(min(shown) / 2, max(shown) * 2), xlabel="time until it is answered", title=title)
        axes.xaxis.set_major_formatter(lambda seconds, _: f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1e3:g} ms")
        axes.grid(visible=True, axis="x", which="both", alpha=0.2)
        axes.legend(loc="lower right")

    return saved(path, (8, 4.5), draw)


def time_text(seconds: float) -> str:
    """Return a time with its unit, in about three significant figures.

    >>> time_text(0.00456), time_text(0.4567), time_text(4.567)
    ('4.6 ms', '457 ms', '4.57 s')
    """
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds < 0.1 else f"{seconds * 1e3:.0f} ms"
