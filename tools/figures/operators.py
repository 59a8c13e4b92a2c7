"""Tables of queries with operators: events, pairs, cubes and DBSCAN."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec

from bench import cube_goals, history_goals
from bench.cube_goals import goals_table
from broker.operators.kinds import OPERATORS
from tools.figures.results import Results
from tools.figures.table import Column, listed, table, times

_METHODS = {"by part": "one state for each of sixteen parts", "by object": "one state for each object"}
_EVENTS = (
    Column("state", lambda row: _METHODS[row["way"]]),
    Column("time of a batch", "batch_s", "{:.2f} s"),
    Column("records/s", "records_a_s", "{:,}"),
)


def _events(results: Results) -> str:
    return table(_EVENTS, results["events"]["spark"])


_NEAR = (
    Column("objects", "objects", "{:,}"),
    Column("pairs", "pairs", "{:,}"),
    Column("records written a tick", "told_a_tick", "{:,}"),
    Column("time of a tick", "tick_s", "{:.3f} s"),
    Column("time to read the messages", "messages_s", "{:.3f} s"),
    Column("time to write and read the state", "state_s", "{:.3f} s"),
    Column("size of the state", times("state_bytes", 1e-6), "{:.1f} MB"),
    Column("time of the k-d tree alone", "kd_tree_s", "{:.3f} s"),
    Column("time of shapely's `STRtree`", "str_tree_s", "{:.3f} s"),
)


def _near(results: Results) -> str:
    return table(_NEAR, results["near"]["results"])


def _cube(results: Results) -> str:
    return goals_table(cube_goals.goals_of(results["cube"]["rows"]))


def _history(results: Results) -> str:
    return goals_table(history_goals.goals_of(results["history"]["rows"]))


def _cube_causes(results: Results) -> str:
    rows = results["cube"]["rows"]
    fold, answers = rows["fold"][0], rows["answers"][0]
    reading = next(row["ratio"] for row in rows["stream"]["results"] if row["reads_columns"] and not row["cubes"])
    columns = (
        Column(
            "throughput of a backlog with a predicate that reads the columns of the cubes / without it",
            "reading",
            "{:.2f} x",
        ),
        Column(f"cells of {fold['cubes']} {fold['workload']} cubes over {fold['records']:,} records", "cells", "{:,}"),
        Column(
            f"cells of the {answers['workload']} cube of row `answers`, over {answers['raw_records']:,} records",
            "answering_cells",
            "{:,}",
        ),
        Column("size of the cube's file / size of the DuckDB file in row `pair`", "files", "{:.2f} x"),
    )
    row = {
        "reading": reading,
        "cells": fold["cells"],
        "answering_cells": answers["cells"],
        "files": rows["pair"]["stored_ratio_of_files"],
    }
    return listed(columns, row)


def _table_of_kind(name: str, results: Results) -> str:
    """Return the table that ``page_table`` of the module ``bench.NAME`` makes of the result of a kind's benchmark."""
    if name not in results:
        return f"No full run is kept: `asc bench {name}` leaves one in `bench/results`."
    # Imported here, because benchmarks load Spark and the kernels, which takes seconds.
    page: str = import_module(f"bench.{name}").page_table(results[name])
    return page


_OWN: Mapping[str, Callable[[Results], str]] = {
    "events": _events,
    "near": _near,
    "cube": _cube,
    "cube-causes": _cube_causes,
    "history": _history,
}

TABLES: Mapping[str, Callable[[Results], str]] = {
    **_OWN,
    **{
        name: partial(_table_of_kind, name)
        for name in OPERATORS
        if name not in _OWN and find_spec(f"bench.{name}") is not None
    },
}
