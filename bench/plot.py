"""Drawing benchmark results; nothing is drawn where matplotlib is not installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_CONTENDERS = {"engine_ms": "engine", "brute_force_ms": "brute force, vectorised", "scan_ms": "scan with early exit"}


def saved(path: Path, inches: tuple[float, float], draw: Callable[[Any], None]) -> bool:
    """Draw on a figure of that size and save it as ``path`` with .png and with .svg; whether it was drawn."""
    if find_spec("matplotlib") is None:
        return False
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # Neither a date nor random names: the same result gives the same file.
    with rc_context({"svg.hashsalt": "asc"}):
        figure = Figure(figsize=inches, layout="constrained")
        draw(figure)
        figure.savefig(path.with_name(f"{path.name}.png"), dpi=120)
        figure.savefig(path.with_name(f"{path.name}.svg"), metadata={"Date": None})
    return True


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
