"""Tables of operators: goals of the benchmarks, and the causes of misses."""

from __future__ import annotations

from bench.dbscan_goals import GOALS
from bench.dbscan_peers import PACKAGES
from tools.figures.operators import TABLES


def test_a_benchmark_without_a_kept_run_claims_nothing() -> None:
    assert TABLES["dbscan"]({}) == "No full run is kept: `asc bench dbscan` leaves one in `bench/results`."


def test_goals_without_a_figure_stay_in_the_table() -> None:
    table = TABLES["dbscan"]({"dbscan": {"versions": dict.fromkeys(PACKAGES.values(), "1.0")}})
    assert table.count("| not measured |") == len(GOALS)


def test_causes_are_read_from_the_rows_of_cubes() -> None:
    rows = {
        "fold": [{"cubes": 20, "workload": "wide", "records": 1_000, "cells": 6_000}],
        "answers": [{"workload": "wide", "raw_records": 1_000, "cells": 900}],
        "stream": {
            "results": [
                {"cubes": 0, "reads_columns": False, "ratio": 1.0},
                {"cubes": 0, "reads_columns": True, "ratio": 0.85},
            ]
        },
        "pair": {"stored_ratio_of_files": 1.79},
    }
    assert TABLES["cube-causes"]({"cube": {"rows": rows}}).splitlines()[2:] == [
        "| throughput of a backlog with a predicate that reads the columns of the cubes / without it | 0.85 x |",
        "| cells of 20 wide cubes over 1,000 records | 6,000 |",
        "| cells of the wide cube of row `answers`, over 1,000 records | 900 |",
        "| size of the cube's file / size of the DuckDB file in row `pair` | 1.79 x |",
    ]


def test_states_are_by_part_and_by_object() -> None:
    rows = [{"way": "by part", "batch_s": 0.5, "records_a_s": 27_435}]
    assert TABLES["events"]({"events": {"spark": rows}}).splitlines()[2:] == [
        "| one state for each of sixteen parts | 0.50 s | 27,435 |"
    ]
