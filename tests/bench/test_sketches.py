"""The benchmark of sketches in cubes: some of its rows, and nightly all, at sizes that measure nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench.sketches
from bench.cube_sketches import ANSWERS_QUICK, answers
from bench.sketch_goals import _READERS, goals_of
from bench.sketches import ROWS
from cli.bench import bench as commands


def test_the_command_offers_the_rows() -> None:
    (option,) = (own for own in commands.commands["sketches"].params if own.name == "rows")
    assert list(getattr(option.type, "choices", ())) == list(ROWS) == list(_READERS)


def test_some_rows_leave_a_file_of_their_own(tmp_path: Path) -> None:
    result = bench.sketches.run(quick=True, rows=("answers", "closed"), output_dir=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["sketches-answers-closed.json"]
    assert result == json.loads((tmp_path / "sketches-answers-closed.json").read_text("utf-8"))
    lines = bench.sketches.table(result).splitlines()
    assert lines[0] == "sizes that measure nothing"
    assert sum(line.endswith(("| met |", "| missed |")) for line in lines) == 7


def test_answers_beyond_their_bounds_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.cube_sketches._STATIONS", 50)
    monkeypatch.setattr("asc.operators.cube.states.distinct_answers.SIGMAS", 1)
    monkeypatch.setattr("asc.operators.cube.states.quantile_answers._error", lambda sketch: 0.0)
    with pytest.raises(RuntimeError, match="exact answers are within the bounds"):
        answers(ANSWERS_QUICK)


def test_the_goals_are_read() -> None:
    times = {"own_s": 0.1, "sketches_s": 0.05, "plain_s": 0.1, "spark_s": 0.9}
    goals = goals_of(
        {
            "fold": {"batch": 200_000, "results": [{"cells": 100, **times}]},
            "answers": {
                "records": 10**7,
                "cells": 100,
                "results": [{"function": "s", "panes": 60, "own_s": 0.01, "duckdb_s": 1.0}],
            },
            "closed": {"records": 10**6, "results": [{"function": "s", "own_s": 3e-4, "goal_ms": 0.2}]},
        }
    )
    assert [(round(goal.measured, 3), goal.goal, goal.is_met) for goal in goals] == [
        *((2.0, 1.0, True), (2.0, 0.8, True), (9.0, 10.0, False)),
        (100.0, 50.0, True),
        (0.3, 0.2, False),
    ]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.spark
def test_every_row_is_measured(tmp_path: Path) -> None:
    result = bench.sketches.run(quick=True, rows=(), output_dir=tmp_path)
    assert result == json.loads((tmp_path / "sketches.json").read_text("utf-8"))
    assert list(result["rows"]) == list(ROWS)
    assert all(own["spark_s"] > 0 for own in result["rows"]["fold"]["results"])
