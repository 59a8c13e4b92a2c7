"""Cubes that last: records with many views, a year by month, the ageing of a day, chosen views, and backfills."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bench import cube_ageing, cube_backfill, cube_optimiser, cube_views, cube_year
from bench.cube_goals import goals_table
from bench.history_goals import goals_of
from bench.machine import machine
from bench.plot_views import plot_views
from bench.result_file import write_result
from broker.runtime.java import find_java

ROWS: Mapping[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "views": (cube_views.views, cube_views.FULL, cube_views.QUICK),
    "year": (cube_year.year, cube_year.FULL, cube_year.QUICK),
    "ageing": (cube_ageing.ageing, cube_ageing.FULL, cube_ageing.QUICK),
    "optimiser": (cube_optimiser.optimiser, cube_optimiser.FULL, cube_optimiser.QUICK),
    "backfill": (cube_backfill.backfill, cube_backfill.FULL, cube_backfill.QUICK),
}
"""The function and the sizes of each measurement, by the name of its row."""


def run(*, quick: bool, rows: Sequence[str], output_dir: Path) -> dict[str, Any]:
    """Measure some rows, or all if none is named. Write ``history.json`` into the folder, and the plot ``history`` if
    the row ``views`` is measured. Return the content of the file.

    A run of some rows writes ``history-NAMES.json`` instead, and does not change the file of a whole run. Raises
    RuntimeError if a rival has a different answer; then no figure is printed.
    """
    chosen = [name for name in ROWS if name in rows or not rows]
    measured = {}
    for name in tqdm(chosen, desc="rows", leave=False, disable=None):
        work, full, small = ROWS[name]
        measured[name] = work(small if quick else full)
    result = {
        "benchmark": "history",
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "versions": {package: version(package) for package in ("duckdb", "pyspark", "numba")},
        "rows": measured,
    }
    name = "history" if len(chosen) == len(ROWS) else f"history-{'-'.join(chosen)}"
    write_result(output_dir, name, result)
    if "views" in measured:
        plot_views(measured["views"], output_dir / name)
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as a Markdown table: one row per goal, with the measured figure."""
    goals = goals_table(goals_of(result["rows"]))
    return f"sizes that measure nothing\n\n{goals}" if result["quick"] else goals
