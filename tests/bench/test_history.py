"""The benchmark of cubes that last: some of its rows, and nightly all, at sizes that measure nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import bench.cube_ageing
import bench.cube_year
import bench.history
from bench.cube_ageing import ageing
from bench.cube_views import QUICK, views
from bench.cube_year import year
from bench.history import ROWS
from bench.history_goals import _READERS, goals_of
from cli.bench import bench as commands
from workloads.sales import MEASURES


def test_the_command_offers_the_rows() -> None:
    (option,) = (own for own in commands.commands["history"].params if own.name == "rows")
    assert list(getattr(option.type, "choices", ())) == list(ROWS) == list(_READERS)


def test_some_rows_leave_a_file_of_their_own(tmp_path: Path) -> None:
    result = bench.history.run(quick=True, rows=("year", "ageing"), output_dir=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["history-year-ageing.json"]
    assert result == json.loads((tmp_path / "history-year-ageing.json").read_text("utf-8"))
    (part,) = result["rows"]["year"]["answered_by"]
    assert (part["cuboid"], part["grain_s"], part["panes"]) == (["region"], 86_400, 59)
    assert all(run["questions"] > 0 for run in result["rows"]["ageing"]["runs"])
    lines = bench.history.table(result).splitlines()
    assert lines[0] == "sizes that measure nothing"
    assert sum(line.endswith(("| met |", "| missed |")) for line in lines) == 5


def test_every_number_of_views_is_measured_with_short_and_long_panes() -> None:
    found = views(replace(QUICK, records=2_000, batch=1_000, views=(1, 3)))["results"]
    assert [(own["grain"], own["views"]) for own in found] == [
        *(("minute", 1), ("minute", 3)),
        *(("hour", 1), ("hour", 3)),
    ]
    assert found[0]["ratio"] == found[2]["ratio"] == 1.0


def test_a_rival_with_other_groups_ends_the_year(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = [own.replace("max(amount)", "min(amount)") for own in MEASURES]
    monkeypatch.setattr("bench.cube_year.MEASURES", fewer)
    with pytest.raises(RuntimeError, match=r"asc answers .*, and DuckDB "):
        year(bench.cube_year.QUICK)


def test_a_day_that_has_not_aged_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.cube_ageing, "_beside", lambda *_: (0.1, [0.1]))
    with pytest.raises(RuntimeError, match=r"bands have \[0\] panes"):
        ageing(bench.cube_ageing.QUICK)


def test_the_goals_are_read() -> None:
    runs = [("minute", 1, 1.0), ("minute", 30, 0.5), ("hour", 1, 1.0), ("hour", 30, 0.95)]
    figures = {"panes": 8_760, "cells": 43_800_000, "raw_records": 10_000_000}
    goals = goals_of(
        {
            "views": {"results": [dict(zip(("grain", "views", "ratio"), own, strict=True)) for own in runs]},
            "year": {**figures, "own_s": 0.02, "base_s": 1.0, "duckdb_s": 1.0},
            "ageing": {"panes": 1_440, "cells": 1_300, "median_s": 0.9, "held_s": 0.03},
            "optimiser": {"random_sets": 2_000, "results": [{"ratio": 0.8}, {"ratio": 1.05}]},
            "backfill": {"ratio": 1.6, "routing_ratio": 0.8},
        }
    )
    assert [(round(goal.measured, 3), goal.goal, goal.is_met) for goal in goals] == [
        *((0.5, 0.9, False), (0.95, 0.9, True)),
        *((20.0, 50.0, True), (50.0, 20.0, True), (50.0, 100.0, False)),
        *((0.9, 1.0, True), (30.0, 20.0, False)),
        (1.05, 1.3, True),
        *((1.6, 1.5, True), (0.8, 0.9, False)),
    ]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(1800)
def test_every_row_is_measured(tmp_path: Path) -> None:
    result = bench.history.run(quick=True, rows=(), output_dir=tmp_path)
    assert result == json.loads((tmp_path / "history.json").read_text("utf-8"))
    assert list(result["rows"]) == list(ROWS)
    assert result["rows"]["backfill"]["ratio"] > 0 < result["rows"]["backfill"]["routing_ratio"]
