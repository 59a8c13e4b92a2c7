"""Plots of benchmark results. Nothing is drawn if matplotlib is not installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_CONTENDERS = {"engine_ms": "engine", "brute_force_ms": "brute force, vectorised", "scan_ms": "scan with early exit"}


def saved(path: Path, inches: tuple[float, float], draw: Callable[[Any], None]) -> bool:
    """Draw on a figure of the given size, and save the figure as ``path`` with .png and with .svg. Return True if it
    was drawn.
    """
    if find_spec("matplotlib") is None:
        return False
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # Write no date and no random ids into the files, so that the same result always gives the same file.
    with rc_context({"svg.hashsalt": "asc"}):
        figure = Figure(figsize=inches, layout="constrained")
        draw(figure)
        figure.savefig(path.with_name(f"{path.name}.png"), dpi=120)
        figure.savefig(path.with_name(f"{path.name}.svg"), metadata={"Date": None})
    return True


def plot_match(result: dict[str, Any], path: Path) -> bool:
    """Draw milliseconds per tuple over the number of queries, one panel per workload."""
    return _panels(result, _CONTENDERS, "ms a tuple, one thread", path)


def plot_scale(result: dict[str, Any], path: Path) -> bool:
    """Draw microseconds per tuple over the number of queries, one panel per workload."""
    labels = {
        "pairs_us": "row and ordinal",
        "ids_us": "ids",
        "small_batch_us": "in batches of 256",
        "brute_force_us": "brute force, vectorised",
        "scan_us": "scan with early exit",
    }
    return _panels(result, labels, "us a tuple, one thread", path)


def _panels(result: dict[str, Any], labels: Mapping[str, str], measured: str, path: Path) -> bool:
    """Draw the time of each contender over the number of queries, one panel per workload, up to three panels side by
    side.
    """
    names = list(dict.fromkeys(row["workload"] for row in result["results"]))
    wide = min(3, len(names))
    high = -(-len(names) // wide)

    def draw(figure: Any) -> None:
        panels = figure.subplots(high, wide, squeeze=False).ravel()
        for axes in panels[len(names) :]:
            axes.set_visible(False)
        for axes, name in zip(panels[: len(names)], names, strict=True):
            rows = [row for row in result["results"] if row["workload"] == name]
            for key, label in labels.items():
                if key in rows[0]:
                    axes.plot([row["queries"] for row in rows], [row[key] for row in rows], marker="o", label=label)
            axes.set(xscale="log", yscale="log", title=name, xlabel="queries", ylabel=measured)
            axes.grid(visible=True, which="both", alpha=0.2)
            axes.legend()

    return saved(path, (5 * wide, 4 * high), draw)


def plot_peers(result: dict[str, Any], path: Path) -> bool:
    """Draw microseconds per tuple over the number of queries, one line per contender and one panel per workload."""
    rows = [row for row in result["results"] if "us" in row]
    if not rows:
        return False
    names = list(dict.fromkeys(row["workload"] for row in rows))

    def draw(figure: Any) -> None:
        for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
            own = [row for row in rows if row["workload"] == name]
            for contender in dict.fromkeys(row["contender"] for row in own):
                points = [(row["queries"], row["us"]) for row in own if row["contender"] == contender]
                axes.plot(*zip(*points, strict=True), marker="o", label=contender)
            axes.set(xscale="log", yscale="log", title=name, xlabel="queries", ylabel="us a tuple")
            axes.grid(visible=True, which="both", alpha=0.2)
            axes.legend()

    return saved(path, (6 * len(names), 4.5), draw)


def plot_spark(result: dict[str, Any], path: Path) -> bool:
    """Draw three panels of the comparison of ``broker.match`` with Spark.

    The left and the middle panel have seconds over the number of predicates, and over the number of alerts: one line
    per plan, hollow if the plan was stopped. The right panel has the ratio of ``broker.match`` to the bare transport.
    """

    def draw(figure: Any) -> None:
        some, many, ratio = figure.subplots(1, 3)
        title = f"{result['input']['rows']:,} rows x {result['input']['columns']} int columns (hollow: stopped there)"
        _draw_seconds(some, result["results"])
        some.set(xlabel="predicates", title=title)
        _draw_seconds(many, result["many"])
        many.set(xlabel="alerts", title="many alerts")
        for (label, results), color in zip((("D1", "results"), ("alerts", "many")), ("C0", "C1"), strict=True):
            _draw_ratios(ratio, result[results], label, color)
        ratio.axhline(1, color="0.5", linewidth=1)
        title = "over the bare transport, 95 %"
        ratio.set(xscale="log", xlabel="predicates", ylabel="times as long", title=title, ylim=(0, None))
        ratio.grid(visible=True, which="both", alpha=0.2)
        ratio.legend()

    return saved(path, (19, 4.5), draw)


def _draw_seconds(axes: Any, results: dict[str, Any]) -> None:
    counts = [int(count) for count in results]
    for number, name in enumerate(dict.fromkeys(name for measured in results.values() for name in measured)):
        own = [measured[name] for measured in results.values()]
        seconds = [one.get("median_s") or one["stopped_after_s"] for one in own]
        axes.plot(counts, seconds, color=f"C{number}", label=name)
        for count, one, second in zip(counts, own, seconds, strict=True):
            stopped = "median_s" not in one
            axes.plot(count, second, "^" if stopped else "o", color=f"C{number}", mfc="none" if stopped else None)
    axes.set(xscale="log", yscale="log", ylabel="seconds")
    axes.grid(visible=True, which="both", alpha=0.2)
    axes.legend()


def _draw_ratios(axes: Any, results: dict[str, Any], label: str, color: str) -> None:
    found = {int(count): one["to_bare"] for count, own in results.items() for one in own.values() if "to_bare" in one}
    middle = [one["ratio"] for one in found.values()]
    spread = [[abs(one["ratio"] - one[end]) for one in found.values()] for end in ("low", "high")]
    axes.errorbar(list(found), middle, yerr=spread, marker="o", capsize=3, color=color, label=label)


def plot_monitor(result: dict[str, Any], path: Path) -> bool:
    """Draw rows per second of every batch by mode of the monitor, one panel per number of predicates."""
    rows = result["input"]["rows"]

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, len(result["results"]), squeeze=False)[0]
        for axes, (count, modes) in zip(panels, result["results"].items(), strict=True):
            speeds = [[rows / seconds / 1e6 for seconds in measured["runs_s"]] for measured in modes.values()]
            axes.boxplot(speeds, tick_labels=list(modes))
            axes.set(title=f"{int(count):,} predicates", ylabel="million rows a second", ylim=(0, None))
            axes.grid(visible=True, axis="y", alpha=0.2)

    return saved(path, (5 * len(result["results"]), 4), draw)
