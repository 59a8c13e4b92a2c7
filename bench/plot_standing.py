"""The plot of the times to load, change and restore up to a million standing queries. Nothing is drawn if matplotlib is
not installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.plot import saved

_PANELS = {
    "seconds": {"load_s": "bulk load", "ready_s": "start, with a snapshot", "ready_without_s": "start, without"},
    "seconds until a change is answered": {"change_p50_s": "half of them", "change_p99_s": "99 % of them"},
}


def plot_standing(result: dict[str, Any], path: Path) -> bool:
    """Draw three times over the number of queries: the time to load, the time to start, and the time of
    single changes.
    """
    runs = result["results"]

    def draw(figure: Any) -> None:
        for axes, (measured, lines) in zip(figure.subplots(1, len(_PANELS)), _PANELS.items(), strict=True):
            for key, label in lines.items():
                axes.plot([each["queries"] for each in runs], [each[key] for each in runs], marker="o", label=label)
            axes.set(xscale="log", yscale="log", xlabel="standing queries", ylabel=measured)
            axes.grid(visible=True, which="both", alpha=0.2)
            axes.legend()

    return saved(path, (10, 4), draw)
