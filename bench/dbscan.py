"""Standing DBSCAN queries compared with scikit-learn, dbscan, hdbscan, incdbscan and Extra-N, each on one thread."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from asc.errors import AscError
from bench.dbscan_claims import claims
from bench.dbscan_claims import figures_of as paper_figures
from bench.dbscan_goals import GOALS, Figure, goals_table
from bench.dbscan_paper import CASES, CONTENDERS, case_of, measured_case
from bench.dbscan_peers import PACKAGES, versions
from bench.dbscan_ratios import many, ratios_of, settings, single
from bench.dbscan_served import figures_of as served_figures
from bench.dbscan_served import served
from bench.dbscan_sizes import PAPER, QUICK_PAPER, QUICK_RATIOS, QUICK_SERVED, RATIOS, SERVED, RatioSize
from bench.dbscan_streams import dense_heaps, figures_of, incremental, later, sizes
from bench.machine import machine
from bench.one_thread import THREADS, in_one_thread
from bench.plot_dbscan import plot_case
from bench.result_file import write_result

PARTS = ("ratios", "paper", "served")

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
"""The functions that measure the rows of part ``ratios``, by the name of the row."""

TIMES = {
    "labels": "from points to labels: the neighbours of new points are searched, and all windows that are due labelled",
    "other rows": "from the texts of messages to those of records: points, neighbours, labels, ids and records",
    "peers": "from the points of a window to its labels; incdbscan, Extra-N: from the new points of a slide to labels",
}


def run(*, quick: bool, part: str | None, figure: int | None, data: Path | None, output_dir: Path) -> dict[str, Any]:
    """Measure one part, or all parts, write ``dbscan.json`` into the folder, and return the content of the file.

    A run of one part writes ``dbscan-PART.json`` instead. A run of the case of one figure writes
    ``dbscan-figure-N.json`` instead. Figures of the paper are also plotted. Raises RuntimeError if labels of two
    contenders differ, or if the results of the queries are too similar. In both cases, no figure is printed.
    """
    if figure is not None and part not in {None, "paper"}:
        raise AscError("figure", figure, "is of part paper: leave --part out")
    chosen = ["paper"] if figure is not None else [name for name in PARTS if part in {None, name}]
    measured: dict[str, Any] = {}
    if "ratios" in chosen:
        size = QUICK_RATIOS if quick else RATIOS
        measured["ratios"] = {
            name: in_one_thread(ratio_row, name, size, data)
            for name in tqdm(RATIO_ROWS, desc="ratios", leave=False, disable=None)
        }
    if "paper" in chosen:
        paper_size = QUICK_PAPER if quick else PAPER
        cases = list(CASES) if figure is None else [case_of(figure)]
        measured["paper"] = {
            name: in_one_thread(measured_case, name, paper_size, data)
            for name in tqdm(cases, desc="paper", leave=False, disable=None)
        }
        measured["claims"] = claims(measured["paper"])
    if "served" in chosen:
        measured["served"] = served(QUICK_SERVED if quick else SERVED, data)
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
    of_figure = None if figure is None else f"figure-{figure}"
    write_result(output_dir, "-".join(filter(None, ("dbscan", of_figure or part))), result)
    for name, case in measured.get("paper", {}).items():
        plot_case(name, case, output_dir)
    return result


def ratio_row(name: str, size: RatioSize, data: Path | None) -> dict[str, Any]:
    """Measure the row ``name`` of part ``ratios``, and return its figures. ``data``: the folder of recorded positions
    of aircraft; None for simulated positions.
    """
    return RATIO_ROWS[name](size, data)


def figures(result: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the figures of a run, each by the name of its goal. A missing figure is replaced by the reason why it is
    missing.
    """
    figure_by_goal: dict[str, Figure] = {}
    for row in result.get("ratios", {}).values():
        if "results" in row:
            figure_by_goal.update((name, figure) for name, figure in ratios_of(row) if name in GOALS)
        figure_by_goal.update(figures_of(row))
    figure_by_goal.update(paper_figures(result.get("paper", {})))
    figure_by_goal.update(served_figures(result.get("served", {})))
    for peer, package in PACKAGES.items():
        if result["versions"][package] is None and "ratios" in result:
            reason = f"{package} was not installed"
            figure_by_goal.update({name: reason for name, goal in GOALS.items() if goal.against == peer})
    return figure_by_goal


def page_table(result: Mapping[str, Any]) -> str:
    """Return the table of the documentation: the goals with their figures, as Markdown."""
    return goals_table(figures(result))


def table(result: dict[str, Any]) -> str:
    """Return the result as text: the goals with their figures, the work that each time includes, and the results of
    each case and row.
    """
    lines = ["sizes that measure nothing", ""] if result["quick"] else []
    lines += [page_table(result), ""]
    lines += [f"one thread each: {', '.join(result['threads'])} = 1; warm-up: {result['warm_ups']}"]
    lines += [f"{what}: {included}" for what, included in result["times"].items()]
    for name, case in result.get("paper", {}).items():
        lines += ["", *_case_lines(name, case)]
    if result.get("claims"):
        lines += ["", *_claim_lines(result["claims"]), ""]
    for name, row in result.get("ratios", {}).items():
        lines += [line for own in row.get("results", ()) for line in _row_lines(name, own)]
    return "\n".join(lines)


def _row_lines(name: str, own: Mapping[str, Any]) -> list[str]:
    taken = ", ".join(f"{who} {spent_s:.4g} s" for who, spent_s in own["slide_s"].items())
    where = f"{name}, {own['stream']}" if "stream" in own else name
    some = f"; peers on {own['peer_queries']} of them, extrapolated" if "peer_queries" in own else ""
    apart = "".join(f"; {who} labels {count:,} points otherwise" for who, count in own["differing"].items() if count)
    return [f"{where}: {taken}{some}{apart}"]


def _case_lines(name: str, case: Mapping[str, Any]) -> list[str]:
    """Return a table of the costs of the contenders. It has one line per number of queries, with the mean over all
    groups of so many queries.
    """
    figures = " and ".join(map(str, case["figures"]))
    lines = [f"figure {figures}, {CASES[name].title}, {case['stream']}: us of processor time a record / MB at most", ""]
    lines += [f"| queries | {' | '.join(CONTENDERS)} |", f"|{'---|' * (len(CONTENDERS) + 1)}"]
    for count in dict.fromkeys(own["queries"] for own in case["results"]):
        groups = [own for own in case["results"] if own["queries"] == count]
        cells = []
        for contender in CONTENDERS:
            known = [own for own in groups if contender in own["cpu_us"]]
            cpu_us, size = (
                statistics.fmean(own[measure][contender] for own in known) if known else None
                for measure in ("cpu_us", "bytes")
            )
            cells.append("-" if cpu_us is None or size is None else f"{cpu_us:,.1f} / {size / 1e6:,.1f}")
        lines.append(f"| {count:,} | {' | '.join(cells)} |")
    # Show the counts of the first group, because incdbscan runs only this group.
    most = max((own for own in case["results"] if not own["group"]), key=lambda own: int(own["queries"]))
    for what in ("searches", "visits"):
        counted = ", ".join(f"{who} {own:,.0f}" for who, own in most[what].items())
        lines += ["", f"{what} at {most['queries']:,} queries: {counted}"]
    return [*lines, *(f"{who} labels {count:,} points otherwise" for who, count in case["differing"].items() if count)]


def _claim_lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = ["| the paper's claim | its value | ours | |", "|---|---|---|---|"]
    for own in found:
        verdict = "confirmed" if own["holds"] else "refuted"
        lines.append(f"| {own['claim']} | {own['paper']} | {own['ours']} | {verdict} |")
    return lines
