"""Plots of benchmark results; nothing is drawn where matplotlib is not installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

_CONTENDERS = {"engine_ms": "engine", "brute_force_ms": "brute force, vectorised", "scan_ms": "scan with early exit"}


def plot_match(result: dict[str, Any], path: Path) -> bool:
    """Milliseconds a tuple over the number of queries, one panel a workload; whether it was drawn."""
    if find_spec("matplotlib") is None:
        return False
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["workload"] for row in result["results"]))
    figure = Figure(figsize=(5 * len(names), 4), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        rows = [row for row in result["results"] if row["workload"] == name]
        for key, label in _CONTENDERS.items():
            axes.plot([row["queries"] for row in rows], [row[key] for row in rows], marker="o", label=label)
        axes.set(xscale="log", yscale="log", title=name, xlabel="queries", ylabel="ms a tuple, one thread")
        axes.grid(visible=True, which="both", alpha=0.2)
        axes.legend()
    figure.savefig(path, dpi=120)
    return True
