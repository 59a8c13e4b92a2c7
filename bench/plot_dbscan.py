"""The plots of DBSCAN queries. Nothing is drawn if matplotlib is not installed."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.dbscan_paper import CASES, CONTENDERS
from bench.plot import saved

_PANELS = {"cpu_us": ("us of processor time a record", 1.0), "bytes": ("MB at most", 1e-6)}


def plot_case(name: str, measured: Mapping[str, Any], folder: Path) -> bool:
    """Draw processor time and memory of each contender over the number of queries, like the paper's figures of the
    case.
    """
    results = measured["results"]
    counts = sorted({own["queries"] for own in results})

    def draw(figure: Any) -> None:
        for axes, (measure, (label, factor)) in zip(figure.subplots(1, 2), _PANELS.items(), strict=True):
            for contender in CONTENDERS:
                known = [own for own in results if contender in own[measure]]
                places = [count for count in counts if any(own["queries"] == count for own in known)]
                heights = [
                    statistics.fmean(own[measure][contender] for own in known if own["queries"] == count) * factor
                    for count in places
                ]
                axes.plot(places, heights, marker="o", label=contender)
            axes.set(yscale="log", xlabel="queries", ylabel=label, title=CASES[name].title)
            if name == "scale":
                axes.set(xscale="log")
            axes.grid(visible=True, which="both", alpha=0.2)
        axes.legend(fontsize="small")

    numbers = "-".join(map(str, CASES[name].figures))
    return saved(folder / f"dbscan-figure-{numbers}", (11, 4), draw)
