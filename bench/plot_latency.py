"""The plots of the latency of records through a daemon. Nothing is drawn if matplotlib is not installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.plot import saved


def plot_latency(result: dict[str, Any], path: Path) -> bool:
    """Draw a panel per load: the median and the 99th percentile of the deliveries in each second since the daemon was
    ready.

    Each number of queries has a colour; the dashed line is the smallest job of Spark. A histogram of the latencies
    after the warm-up is below. Draw nothing if queries are changed during every load.
    """
    loads = [each for each in result["results"] if not each["changes"]]
    rates = sorted({each["rate"] for each in loads})
    if not rates:
        return False

    def draw(figure: Any) -> None:
        panels, below = figure.subplots(2, len(rates), sharey="row", squeeze=False, height_ratios=(3, 2))
        for axes, bars, rate in zip(panels, below, rates, strict=True):
            for number, each in enumerate(run for run in loads if run["rate"] == rate):
                seconds = [point["second"] for point in each["timeline"]]
                colour = f"C{number}"
                label = f"{each['queries']:,} queries"
                axes.plot(seconds, [point["p50_s"] * 1e3 for point in each["timeline"]], color=colour, label=label)
                axes.plot(seconds, [point["p99_s"] * 1e3 for point in each["timeline"]], color=colour, alpha=0.35)
                counts, edges = each["histogram"]["counts"], each["histogram"]["edges_s"]
                shares = [100 * count / max(1, sum(counts)) for count in counts]
                bars.stairs(shares, [edge * 1e3 for edge in edges], color=colour, label=label)
            for each in (floor for floor in result["floor"] if floor["rate"] == rate):
                axes.axhline(each["p50_s"] * 1e3, color="black", linestyle="--", linewidth=0.8)
            axes.set(yscale="log", xlabel="seconds since ready", title=f"{rate:,.0f} records/s")
            axes.grid(visible=True, which="both", alpha=0.2)
            bars.set(xscale="log", xlabel="ms from sent to received")
        below[0].set_ylabel("% of the deliveries")
        panels[0].set_ylabel("ms from sent to received: half, and 99 % (pale)")
        panels[0].legend()

    return saved(path, (5.5 * len(rates), 7.0), draw)
