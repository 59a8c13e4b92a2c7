"""Standing DBSCAN queries beside scikit-learn, dbscan, hdbscan, incdbscan and Extra-N, on one thread each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bench.dbscan_goals import GOALS, Figure, goals_table
from bench.dbscan_peers import PACKAGES, versions
from bench.dbscan_ratios import many, ratios_of, settings, single
from bench.dbscan_sizes import QUICK_RATIOS, RATIOS, RatioSize
from bench.dbscan_streams import dense_heaps, figures_of, incremental, later, sizes
from bench.machine import machine
from bench.one_thread import THREADS, in_one_thread
from bench.result_file import write_result

PARTS = ("ratios",)

RATIO_ROWS: Mapping[str, Callable[[RatioSize, Path | None], dict[str, Any]]] = {
    "thousand": lambda size, data: many("thousand", size, 1.0, (0.005, 0.05), data),
    "large": lambda size, data: many("large", size, 10.0, (0.002, 0.02), data),
    "settings": lambda size, _: settings(size),
    "one": lambda size, data: single("one", size, 0, data),
    "dense": lambda size, data: single("dense", size, 250, data),
    "short": lambda size, data: incremental("short", size, 3_000, 300, data),
    "long": lambda size, data: incremental("long", size, 15_000, 15, data),
    "heaps": lambda size, _: dense_heaps(size),
    "sizes": sizes,
    "later": later,
}
"""Rows of part ``ratios``."""

TIMES = {
    "labels": "from points to labels: the neighbours of new points are searched, and all windows that are due labelled",
    "other rows": "from the texts of messages to those of records: points, neighbours, labels, ids and records",
    "peers": "from the points of a window to its labels; incdbscan, Extra-N: from the new points of a slide to labels",
}


def run(*, quick: bool, part: str | None, data: Path | None, output_dir: Path) -> dict[str, Any]:
    """Measure a part, all without one, and write ``dbscan.json`` into the folder; the result is what the file holds.

    A run of one part leaves ``dbscan-PART.json``. RuntimeError where labels of two contenders differ or the queries
    find too much alike: then no figure is printed.
    """
    chosen = [name for name in PARTS if part in {None, name}]
    measured: dict[str, Any] = {}
    if "ratios" in chosen:
        size = QUICK_RATIOS if quick else RATIOS
        measured["ratios"] = {
            name: in_one_thread(ratio_row, name, size, data)
            for name in tqdm(RATIO_ROWS, desc="ratios", leave=False, disable=None)
        }
    result = {
        "benchmark": "dbscan",
        "quick": quick,
        "machine": machine(),
        "versions": versions(),
        "threads": dict.fromkeys(THREADS, "1"),
        "warm_ups": "one slide or one call of each contender, which is no part of a time",
        "times": TIMES,
        **measured,
    }
    write_result(output_dir, "dbscan" if part is None else f"dbscan-{part}", result)
    return result


def ratio_row(name: str, size: RatioSize, data: Path | None) -> dict[str, Any]:
    """Return what a row of part ``ratios`` measures."""
    return RATIO_ROWS[name](size, data)


def figures(result: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the figures of a run by the names of their goals, or why there is none."""
    found: dict[str, Figure] = {}
    for row in result.get("ratios", {}).values():
        if "results" in row:
            found.update((name, figure) for name, figure in ratios_of(row) if name in GOALS)
        found.update(figures_of(row))
    for peer, package in PACKAGES.items():
        if result["versions"][package] is None and "ratios" in result:
            reason = f"{package} was not installed"
            found.update({name: reason for name, goal in GOALS.items() if goal.against == peer})
    return found


def table(result: dict[str, Any]) -> str:
    """Return the result as text: the goals with their figures, and what each time includes."""
    lines = ["sizes that measure nothing", ""] if result["quick"] else []
    lines += [goals_table(figures(result)), ""]
    lines += [f"one thread each: {', '.join(result['threads'])} = 1; warm-up: {result['warm_ups']}"]
    lines += [f"{what}: {included}" for what, included in result["times"].items()]
    for name, row in result.get("ratios", {}).items():
        lines += [line for own in row.get("results", ()) for line in _row_lines(name, own)]
    return "\n".join(lines)


def _row_lines(name: str, own: Mapping[str, Any]) -> list[str]:
    taken = ", ".join(f"{who} {spent_s:.4g} s" for who, spent_s in own["slide_s"].items())
    where = f"{name}, {own['stream']}" if "stream" in own else name
    some = f"; peers on {own['peer_queries']} of them, extrapolated" if "peer_queries" in own else ""
    apart = "".join(f"; {who} labels {count:,} points otherwise" for who, count in own["differing"].items() if count)
    return [f"{where}: {taken}{some}{apart}"]
