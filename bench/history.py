"""The benchmark of cubes over long times. It measures folds into many views, questions by month over a year, ageing,
the optimiser's views, the split of shards, and backfills.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import cube_ageing, cube_backfill, cube_optimiser, cube_shards, cube_views, cube_year
from bench.cube_goals import goals_table
from bench.cube_rows import Rows, run_rows
from bench.history_goals import goals_of
from bench.plot_views import plot_views

ROWS: Rows = {
    "views": (cube_views.views, cube_views.FULL, cube_views.QUICK),
    "year": (cube_year.year, cube_year.FULL, cube_year.QUICK),
    "ageing": (cube_ageing.ageing, cube_ageing.FULL, cube_ageing.QUICK),
    "optimiser": (cube_optimiser.optimiser, cube_optimiser.FULL, cube_optimiser.QUICK),
    "shards": (cube_shards.shards, cube_shards.FULL, cube_shards.QUICK),
    "backfill": (cube_backfill.backfill, cube_backfill.FULL, cube_backfill.QUICK),
}


def run(*, quick: bool, rows: Sequence[str], output_dir: Path) -> dict[str, Any]:
    """Measure the rows ``rows``, or all rows if ``rows`` is empty. Write ``history.json`` into the folder, and the plot
    ``history`` if the row ``views`` is measured. Return the content of the file.

    A run of some rows writes ``history-NAMES.json`` instead, and does not change the file of a whole run. Raises
    RuntimeError if a rival has a different answer; then no figure is printed.
    """
    packages = ("duckdb", "pyspark", "numba")
    file, result = run_rows("history", ROWS, rows, packages, quick=quick, output_dir=output_dir)
    if "views" in result["rows"]:
        plot_views(result["rows"]["views"], file.with_suffix(""))
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as a Markdown table: one row per goal, with the measured figure."""
    goals = goals_table(goals_of(result["rows"]))
    return f"sizes that measure nothing\n\n{goals}" if result["quick"] else goals
