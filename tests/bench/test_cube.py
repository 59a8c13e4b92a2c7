"""The benchmark of cubes: some of its rows, and nightly all, at sizes that measure nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench.cube
from bench.cube import ROWS
from cli.bench import bench as commands


def test_the_command_offers_the_rows() -> None:
    (option,) = (own for own in commands.commands["cube"].params if own.name == "rows")
    assert list(getattr(option.type, "choices", ())) == list(ROWS)


def test_some_rows_leave_a_file_of_their_own(tmp_path: Path) -> None:
    result = bench.cube.run(quick=True, rows=("commit",), output_dir=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["cube-commit.json"]
    assert result == json.loads((tmp_path / "cube-commit.json").read_text("utf-8"))
    assert result["versions"].keys() >= {"duckdb", "polars"}
    assert "| time to commit 3 x 100 cells, median |" in bench.cube.table(result)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(1800)
def test_every_row_is_measured(tmp_path: Path) -> None:
    result = bench.cube.run(quick=True, rows=(), output_dir=tmp_path)
    assert result == json.loads((tmp_path / "cube.json").read_text("utf-8"))
    assert list(result["rows"]) == list(ROWS)
    rows = result["rows"]
    assert {own["contender"] for own in rows["fold"]} == {"asc", "DuckDB", "Polars", "Spark"}
    assert rows["pair"]["ratio"] > 0 < rows["pair"]["stored_ratio"]
    assert [own["cubes"] for own in rows["stream"]["results"]] == [0, 0, 2]
    assert all(0 < own["effective_s"] <= own["counted_s"] for own in rows["register"]["results"])
    assert all(run["queries_a_s"] > 0 for own in rows["http"]["results"] for run in own["runs"])
    lines = bench.cube.table(result).splitlines()
    assert lines[0] == "sizes that measure nothing"
    assert sum(line.endswith(("| met |", "| missed |")) for line in lines) >= 15
