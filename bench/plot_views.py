"""The plot of records per second over the number of materialised views. Nothing is drawn if matplotlib is not
installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.plot import saved


def plot_views(row: dict[str, Any], path: Path) -> bool:
    """Draw the records per second of one thread over the number of views, one line per length of the views' panes."""

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for grain in dict.fromkeys(each["grain"] for each in row["results"]):
            own = [each for each in row["results"] if each["grain"] == grain]
            rates = [each["records_a_s"] / 1e6 for each in own]
            label = f"views with panes of one {grain}"
            axes.plot([each["views"] for each in own], rates, marker="o", label=label)
        axes.set(xlabel="materialised views", ylabel="million records/s, one thread", ylim=(0, None))
        axes.grid(visible=True, alpha=0.2)
        axes.legend()

    return saved(path, (6, 4), draw)
