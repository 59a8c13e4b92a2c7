"""The benchmark of sketches in cubes. It compares folding records, answers over past records, and answers from one
closed cell with other systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import cube_sketches
from bench.cube_goals import goals_table
from bench.cube_rows import Rows, run_rows
from bench.sketch_goals import goals_of

ROWS: Rows = {
    "fold": (cube_sketches.fold, cube_sketches.FOLD_FULL, cube_sketches.FOLD_QUICK),
    "answers": (cube_sketches.answers, cube_sketches.ANSWERS_FULL, cube_sketches.ANSWERS_QUICK),
    "closed": (cube_sketches.closed, cube_sketches.CLOSED_FULL, cube_sketches.CLOSED_QUICK),
}


def run(*, quick: bool, rows: Sequence[str], output_dir: Path) -> dict[str, Any]:
    """Measure the rows ``rows``, or all rows if ``rows`` is empty. Write ``sketches.json`` into the folder, and return
    its content.

    A run of some rows writes ``sketches-NAMES.json`` instead, and does not change the file of a whole run. Raises
    RuntimeError if an answer is not within its bounds; then no figure is printed.
    """
    packages = ("datasketches", "duckdb", "pyspark", "numba")
    _, result = run_rows("sketches", ROWS, rows, packages, quick=quick, output_dir=output_dir)
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as a Markdown table: one row per goal, with the measured figure."""
    goals = goals_table(goals_of(result["rows"]))
    return f"sizes that measure nothing\n\n{goals}" if result["quick"] else goals
