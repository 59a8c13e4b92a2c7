"""The plots of the benchmark of adaptation: Figure 9 of the paper, the comparison of triggers, and the time of a search
for a sequence.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.interval import Interval
from bench.plot import saved


def plot_thresholds(result: dict[str, Any], path: Path) -> bool:
    """Draw cost over time for each value of mu: Macro above, Hybrid below."""
    runs, parameters = result["results"]["runs"], result["parameters"]

    def draw(figure: Any) -> None:
        kinds = list(dict.fromkeys(run["sequence"] for run in runs))
        for axes, kind in zip(figure.subplots(len(kinds), 1, sharex=True), kinds, strict=True):
            own = [run for run in runs if run["sequence"] == kind]
            lines = {
                f"mu = {mu}" if mu != "never" else "never rearranged": [run for run in own if run["mu"] == mu]
                for mu in parameters["mus"]
            }
            names = ["D1", "D2"] * (parameters["sub_streams"] // 2)
            _over_time(axes, lines, parameters, names)
            axes.set_title(f"{kind}, lambda = {parameters['period_tuples']:,}, trigger: dropping ratio", pad=20)
        axes.set_xlabel("tuples")

    return saved(path, (11, 8), draw)


def plot_triggers(result: dict[str, Any], path: Path) -> bool:
    """Draw cost over time for each trigger, and the dropping ratio that one of the triggers observes."""
    runs, parameters = result["results"]["runs"], result["parameters"]

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        lines = {
            f"trigger: {trigger}": [run for run in runs if run["trigger"] == trigger]
            for trigger in dict.fromkeys(run["trigger"] for run in runs)
        }
        names = ["as drawn", "mirrored"] * (parameters["sub_streams"] // 2)
        _over_time(axes, lines, parameters, names)
        axes.set_title(
            "The share of unmatched tuples stays the same, the best order turns round\n"
            f"(Macro, lambda = {parameters['period_tuples']:,}, mu = {parameters['mu']})",
            pad=20,
        )
        axes.set_xlabel("tuples")

    return saved(path, (11, 5), draw)


def plot_search(result: dict[str, Any], path: Path) -> bool:
    """Draw the seconds to find a sequence over the number of queries, one line per kind of sequence: means over the
    seeds with 95 % intervals.
    """
    cases, parameters = result["results"]["cases"], result["parameters"]
    counts = parameters["queries"]

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for kind in cases[0]["median_s"]:
            groups = [[case["median_s"][kind] for case in cases if case["queries"] == count] for count in counts]
            found = [Interval.of(own) for own in groups]
            means, halves = [own.mean for own in found], [own.half for own in found]
            axes.errorbar(counts, means, halves, marker="o", capsize=3, label=kind)
        sample = f"{parameters['sample_tuples']:,} tuples x {parameters['p_attributes']} p-attributes"
        axes.set(
            xscale="log",
            xlabel="queries",
            ylabel="seconds on one core",
            ylim=(0, None),
            title=f"Finding a sequence from {sample}",
        )
        axes.set_xticks(counts, [f"{count:,}" for count in counts])
        axes.minorticks_off()
        axes.grid(visible=True, alpha=0.2)
        axes.legend()

    return saved(path, (7, 4.5), draw)


def _over_time(
    axes: Any, lines: Mapping[str, Sequence[dict[str, Any]]], parameters: dict[str, Any], names: Sequence[str]
) -> None:
    """Draw, for each group of runs, the mean cost over the seeds with its 95 % interval. Also draw the settled cost of
    each sub-stream as a dotted line, and a vertical line at each change of the stream.
    """
    point, length = parameters["point_tuples"], parameters["length"]
    for number, (label, runs) in enumerate(lines.items()):
        found = [Interval.of(values) for values in zip(*(run["points"] for run in runs), strict=True)]
        count = statistics.fmean(len(run["rearrangements"]) for run in runs)
        style = "--" if number % 2 else "-"
        places = [(i + 0.5) * point for i in range(len(found))]
        axes.fill_between(
            places, [own.low for own in found], [own.high for own in found], color=f"C{number}", alpha=0.1, linewidth=0
        )
        axes.plot(
            places,
            [own.mean for own in found],
            style,
            color=f"C{number}",
            linewidth=4 - 3 * number / max(1, len(lines) - 1),  # Coinciding lines stay visible.
            label=f"{label} ({count:.1f} rearrangements)",
        )
    runs = next(iter(lines.values()))
    for number, name in enumerate(names):
        settled = statistics.fmean(run["settled"][number] for run in runs)
        start, stop = number * length, (number + 1) * length
        label = "found on the sub-stream itself" if number == 0 else "_"
        axes.plot([start, stop], [settled, settled], color="0.2", linestyle=":", label=label)
        axes.axvline(start, color="0.8", zorder=0)
        axes.annotate(name, ((start + stop) / 2, 1), xycoords=("data", "axes fraction"), ha="center", va="bottom")
    axes.set_ylabel("constructs evaluated a tuple")
    axes.grid(visible=True, axis="y", alpha=0.2)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    axes.xaxis.set_major_formatter("{x:,.0f}")
