"""Goals beside what was measured: met, or missed and shown all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.cube import ROWS
from bench.cube_goals import _READERS, Goal, goals_of, goals_table


def test_each_row_has_its_goals() -> None:
    assert list(_READERS) == list(ROWS)


def rates(batch: int, own: float, duckdb: float, spark: float, polars: float) -> list[dict[str, Any]]:
    names = {"asc": own, "DuckDB": duckdb, "Spark": spark, "Polars": polars}
    common = {"workload": "wide", "batch": batch, "cubes": 20}
    return [{**common, "contender": name, "records_a_s": rate} for name, rate in names.items()]


def test_a_fold_is_held_to_each_rival_in_the_same_batches() -> None:
    found = goals_of({"fold": [*rates(100_000, 300, 100, 10, 300), *rates(10_000, 400, 50, 1, 100)]})
    assert [(goal.measured, goal.goal, goal.is_met) for goal in found] == [
        *((3.0, 2.5, True), (8.0, 10.0, False)),
        *((30.0, 30.0, True), (400.0, 30.0, True)),
        *((1.0, 1.5, False), (4.0, 1.5, True)),
    ]
    assert found[1].measure == "records/s of asc / DuckDB, 20 wide cubes, batches of 10,000"


def test_a_goal_that_is_missed_stays_in_the_table() -> None:
    goals = goals_of(
        {
            "pair": {"ratio": 1.4, "stored_ratio": 0.2},
            "commit": {"cubes": 20, "cells": 1_000, "median_s": 0.0085},
        }
    )
    assert goals_table(goals).splitlines() == [
        "| measure | goal | measured | |",
        "|---|---|---|---|",
        "| records/s of a cube / of a topic with DuckDB | >= 1.50 x | 1.40 x | missed |",
        "| bytes of the cube's file / of the topic and the DuckDB file | <= 0.33 x | 0.20 x | met |",
        "| time to commit 20 x 1,000 cells, median | <= 20.0 ms | 8.5 ms | met |",
    ]


def test_the_other_rows_are_read() -> None:
    run = {"clients": 4, "queries_a_s": 150.0, "p50_s": 0.02, "p99_s": 0.09}
    goals = goals_of(
        {
            "answers": [
                {"panes": 60, "workload": "wide", "raw_records": raw, "own_s": 0.01, "duckdb_s": raw / 1e7}
                for raw in (1_000_000, 10_000_000)
            ],
            "stream": {"results": [{"cubes": count, "ratio": 0.9} for count in (0, 1, 20)]},
            "register": {"results": [{"effective_s": 0.2, "counted_s": 0.9}, {"effective_s": 0.3, "counted_s": 1.2}]},
            "http": {
                "queries_a_s": 100.0,
                "routing_ratio": 1.05,
                "results": [{"cube": "10,000 cells", "runs": [run]}, {"cube": "100,000 cells", "runs": [run]}],
            },
        }
    )
    assert [(round(goal.measured, 3), goal.goal) for goal in goals] == [
        *((10.0, 5.0), (100.0, 40.0)),
        *((0.9, 0.95), (0.9, 0.85)),
        *((0.3, 1.0), (1.2, 1.0)),
        *((150.0, 100.0), (90.0, 100.0), (1.05, 1.1), (20.0, 30.0)),
    ]
    assert isinstance(goals[0], Goal)


def test_the_page_has_the_table_of_the_last_run() -> None:
    root = Path(__file__).parents[2]
    rows = json.loads((root / "bench" / "results" / "cube.json").read_text("utf-8"))["rows"]
    assert goals_table(goals_of(rows)) in (root / "docs" / "benchmarks.md").read_text("utf-8")
