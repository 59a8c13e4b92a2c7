"""The plots of Figures 6 and 7. Nothing is drawn if matplotlib is not installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.interval import Interval
from bench.plot import saved

STYLES = {
    "SEQ_worst": ("SEQ_worst", "0.65", "v"),
    "Ticket Routing": ("Ticket Routing", "tab:orange", "s"),
    "SEQ_best": ("SEQ_best", "0.25", "^"),
    "Macro": ("Macro", "tab:blue", "o"),
    "Hybrid": ("Hybrid", "tab:green", "D"),
    "Hybrid, refined": ("Hybrid, refined (ours)", "tab:purple", "P"),
}
"""The label, colour and marker of each contender, which are the same in every figure."""

TITLES = {"D1": "D1: uniform", "D2": "D2: skewed, correlated", "D3": "D3: census"}


def plot_by_data_set(result: dict[str, Any], path: Path) -> bool:
    """Draw Figure 6: cost by data set, and below it the executor's time with the same orders.

    Both are means over the seeds with 95 % intervals, as in the table.
    """
    cases = result["results"]["cases"]
    names = list(dict.fromkeys(case["data_set"] for case in cases))

    def draw(figure: Any) -> None:
        costs, times = figure.subplots(2, 1)
        for axes, values in ((costs, _cost), (times, _time)):
            for number, (contender, (label, colour, _)) in enumerate(STYLES.items()):
                found = [
                    (place, [value for case in cases if case["data_set"] == name for value in values(case, contender)])
                    for place, name in enumerate(names)
                ]
                drawn = [(place, Interval.of(own)) for place, own in found if own]
                axes.bar(
                    [place + (number - 2.5) * 0.14 for place, _ in drawn],
                    [own.mean for _, own in drawn],
                    0.13,
                    yerr=[own.half for _, own in drawn],
                    label=label,
                    color=colour,
                )
            axes.set_xticks(range(len(names)), [TITLES[name] for name in names])
            axes.grid(visible=True, axis="y", alpha=0.2)
        costs.set(ylabel="constructs evaluated a tuple", title="Processing cost of the evaluation sequences (mu = 0)")
        times.set(ylabel="ns a tuple, batch executor,\none thread (no Ticket Routing)")
        costs.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.08), frameon=False)

    return saved(path, (9, 7), draw)


def plot_by_attributes(result: dict[str, Any], path: Path) -> bool:
    """Draw Figure 7: cost over the number of p-attributes and, above, the ratio to SEQ_best for each seed, with 95 %
    intervals.
    """
    cases = result["results"]["cases"]
    counts = sorted({case["attributes"] for case in cases})

    best = {(case["attributes"], case["seed"]): case["costs"]["SEQ_best"] for case in cases}

    def draw(figure: Any) -> None:
        costs, gaps = figure.subplots(1, 2)
        for contender, (label, colour, marker) in STYLES.items():
            for axes, above in ((costs, False), (gaps, True)):
                found = [
                    [
                        case["costs"][contender] - above * best[count, case["seed"]]
                        for case in cases
                        if case["attributes"] == count
                    ]
                    for count in counts
                ]
                intervals = [Interval.of(own) for own in found]
                means, halves = [own.mean for own in intervals], [own.half for own in intervals]
                axes.errorbar(counts, means, halves, label=label, color=colour, marker=marker, capsize=3)
        costs.set(ylabel="constructs evaluated a tuple", title="cost")
        gaps.set(ylabel="constructs evaluated a tuple above SEQ_best", title="gap to SEQ_best")
        for axes in (costs, gaps):
            axes.set_xlabel("p-attributes")
            axes.set_xticks(counts)
            axes.grid(visible=True, alpha=0.2)
            axes.legend()
        figure.suptitle(f"Processing cost by number of p-attributes, {TITLES[cases[0]['data_set']]} (mu = 0)")

    return saved(path, (12, 5), draw)


def _cost(case: dict[str, Any], contender: str) -> list[float]:
    return [case["costs"][contender]]


def _time(case: dict[str, Any], contender: str) -> list[float]:
    """Return the times of a contender. Return no time for Ticket Routing, which the executor does not run."""
    return [case["times"][contender]["executor"]] if contender in case["times"] else []
