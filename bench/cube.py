"""The benchmark of standing cubes. It compares folding records, answering queries, the whole path from Kafka, and
queries over HTTP with alternatives such as DuckDB and Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import (
    cube_answers,
    cube_commit,
    cube_fold,
    cube_http,
    cube_pair,
    cube_register,
    cube_stream,
)
from bench.cube_goals import goals_of, goals_table
from bench.cube_rows import Rows, run_rows

ROWS: Rows = {
    "fold": (cube_fold.fold, cube_fold.FULL, cube_fold.QUICK),
    "answers": (cube_answers.answers, cube_answers.FULL, cube_answers.QUICK),
    "pair": (cube_pair.pair, cube_pair.FULL, cube_pair.QUICK),
    "stream": (cube_stream.stream, cube_stream.FULL, cube_stream.QUICK),
    "commit": (cube_commit.commit, cube_commit.FULL, cube_commit.QUICK),
    "register": (cube_register.register, cube_register.FULL, cube_register.QUICK),
    "http": (cube_http.http, cube_http.FULL, cube_http.QUICK),
}


def run(*, quick: bool, rows: Sequence[str], output_dir: Path) -> dict[str, Any]:
    """Measure the rows ``rows``, or all rows if ``rows`` is empty. Write ``cube.json`` into the folder, and return the
    content of the file.

    A run of some rows writes ``cube-NAMES.json`` instead, and does not change the file of a whole run. Raises
    RuntimeError if a rival has a different answer; then no figure is printed.
    """
    packages = ("duckdb", "polars", "pyspark", "numba")
    return run_rows("cube", ROWS, rows, packages, quick=quick, output_dir=output_dir)[1]


def table(result: dict[str, Any]) -> str:
    """Return the result as a Markdown table: one row per goal, with the measured figure."""
    found = goals_table(goals_of(result["rows"]))
    return f"sizes that measure nothing\n\n{found}" if result["quick"] else found
