"""The goals of the benchmark of sketches in cubes, each compared with the measured figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bench.cube_goals import Goal

Row = Any
"""The result of one row of the benchmark, in the form of the JSON file."""


def goals_of(rows: Mapping[str, Row]) -> list[Goal]:
    """Return the goals of the measured rows, in the order of the rows."""
    return [goal for name, row in rows.items() for goal in _READERS[name](row)]


def _fold(row: Row) -> Iterator[Goal]:
    for result in row["results"]:
        cells = f"{result['cells']:,} cells"
        measure = f"records/s of co-moments, two KLL and HLL, {cells} a batch of {row['batch']:,}"
        yield Goal(measure, row["batch"] / result["own_s"] / 1e6, 1.0, "{:.2f} M")
        measure = f"values/s of the sketches / of calls of datasketches by cell, {cells}"
        yield Goal(measure, result["plain_s"] / result["sketches_s"], 0.8)
        yield Goal(f"records/s of asc / Spark, {cells}", result["spark_s"] / result["own_s"], 10.0)


def _answers(row: Row) -> Iterator[Goal]:
    for result in row["results"]:
        panes = f"{result['panes']} panes" if result["panes"] > 1 else "one pane"
        asked = f"{result['function']} of {row['cells']:,} groups over {panes}"
        measure = f"time of DuckDB over {row['records']:,} records / asc, {asked}"
        yield Goal(measure, result["duckdb_s"] / result["own_s"], 50.0)


def _closed(row: Row) -> Iterator[Goal]:
    for result in row["results"]:
        measure = f"time of {result['function']} of one closed cell of {row['records']:,} records"
        yield Goal(measure, result["own_s"] * 1e3, result["goal_ms"], "{:.3f} ms", is_least=False)


_READERS: Mapping[str, Callable[[Row], Iterator[Goal]]] = {"fold": _fold, "answers": _answers, "closed": _closed}
