"""Checks of cubes without a daemon."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from asc.errors import AscError, CubeError
from asc.operators.cube.budget import CHOSEN_CELLS_MAX, CHOSEN_VIEWS_MAX
from cli.operators.cube.check import checked_cube, sampled_cube, show_check

Run = Callable[..., Result]

OPERATOR: dict[str, Any] = {
    "name": "cube",
    "dimensions": [["origin", "dest"], ["(delay > 60)"]],
    "measures": ["count(*) AS flights", "avg(delay) FILTER (WHERE delay > 0) AS late"],
    "grain_s": 3_600,
}


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "flights.ddl"
    path.write_text("origin STRING, dest STRING, delay INT, x DOUBLE, ts TIMESTAMP", "utf-8")
    return path


def test_a_check_finds_cuboids_expressions_and_measures(schema: Path) -> None:
    found = checked_cube("delay IS NOT NULL", OPERATOR, schema, "UTC")
    assert found["expressions"] == [
        {"sql": "_timestamp", "type": "TIMESTAMP"},
        {"sql": "origin", "type": "STRING"},
        {"sql": "dest", "type": "STRING"},
        {"sql": "(delay > 60)", "type": "BOOLEAN"},
        {"sql": "CASE WHEN (delay > 0) THEN delay END", "type": "INT"},
    ]
    assert found["measures"] == [{"name": "flights", "type": "BIGINT"}, {"name": "late", "type": "DOUBLE"}]
    assert found["cuboids"][0] == ["origin", "dest", "(delay > 60)"]
    assert found["cuboids"][-1] == []
    assert len(found["cuboids"]) == 6
    assert found["warnings"] == []


def test_warnings_are_those_of_where_and_of_expressions(schema: Path) -> None:
    found = checked_cube("delay > 0 AND delay < 0", {**OPERATOR, "dimensions": [["x"]]}, schema, "UTC")
    assert found["warnings"] == [
        "a contradiction: it accepts no record",
        "dimension 'x': each different DOUBLE is a group: round it",
    ]


def test_a_check_says_which_windows_are_written(schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    windows = {"output": [["origin"], []], "window_s": 86_400, "slide_s": 3_600}
    found = checked_cube("true", {**OPERATOR, **windows}, schema, "UTC")
    assert {name: found[name] for name in (*windows, "emit")} == {**windows, "emit": "all"}
    assert found["summary"].endswith("writes windows of 1d every 1h")
    show_check(found, as_json=False)
    assert "it writes windows of 1d every 1h, by origin; ()\n" in capsys.readouterr().out
    assert checked_cube("true", OPERATOR, schema, "UTC")["output"] == []


@pytest.mark.parametrize(("name", "most"), [("cuboids", CHOSEN_VIEWS_MAX), ("cells", CHOSEN_CELLS_MAX)])
def test_a_budget_beyond_the_bound_is_refused_as_by_the_daemon(schema: Path, name: str, most: int) -> None:
    assert checked_cube("true", {**OPERATOR, name: most}, schema, "UTC")["warnings"] == []
    with pytest.raises(CubeError, match=f"{name} {most + 1}: give a whole number up to {most:,}"):
        checked_cube("true", {**OPERATOR, name: most + 1}, schema, "UTC")


def test_many_cuboids_are_counted_and_some_shown(schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many = {**OPERATOR, "dimensions": [[f"delay + {n}"] for n in range(6)]}
    show_check(checked_cube("true", many, schema, "UTC"), as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert "it has 64 cuboids" in lines
    assert lines[-1] == "  and 32 more"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"output": [["dst"]], "window_s": 3_600, "slide_s": 3_600}, "output 'dst': is no dimension"),
        ({"output": [["dest"]], "slide_s": 3_600}, "window_s: is missing"),
        ({"measures": ["sum(origin)"]}, "origin is STRING"),
        ({"dimensions": [["dst"]]}, "unknown column 'dst'"),
    ],
)
def test_what_is_refused_is_refused_as_at_registration(schema: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(AscError, match=said):
        checked_cube("true", {**OPERATOR, **changed}, schema, "UTC")


PLAIN = {**OPERATOR, "dimensions": [["origin"]], "measures": ["count(*) AS flights", "sum(delay)"], "time": "ts"}


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """300 records, two a minute, of which each third one is early."""
    path = tmp_path / "flights.csv"
    rows = (f"JFK,D{n},{n % 3},{n}.5,2013-07-10T{n // 120:02d}:{n // 2 % 60:02d}:00Z" for n in range(300))
    path.write_text("origin,dest,delay,x,ts\n" + "\n".join(rows) + "\n", "utf-8")
    return path


def test_a_sample_says_how_many_cells_and_bytes_there_would_be(schema: Path, sample: Path) -> None:
    found, warnings = sampled_cube("delay > 0", PLAIN, sample, schema, "UTC")
    size_bytes = found.pop("bytes")
    assert size_bytes > 1_000
    assert found == {
        **{"records": 300, "undecodable": 0, "counted": 200, "panes": 3, "cells": 3, "records_a_cell": 66.67},
        **{"cells_a_pane": 1.0, "bytes_a_cell": round(size_bytes / 3, 2)},
    }
    assert warnings == []


def test_fewer_than_two_records_a_cell_are_warned_of(schema: Path, sample: Path) -> None:
    # A cell a record, and then one for every two.
    single, double = ({**PLAIN, "dimensions": [[dimension]], "grain_s": 60} for dimension in ("dest", "origin"))
    found, warnings = sampled_cube("true", single, sample, schema, "UTC")
    assert (found["cells"], found["records_a_cell"]) == (300, 1.0)
    assert warnings == ["300 cells of 300 records: group by less, or round"]
    found, warnings = sampled_cube("true", double, sample, schema, "UTC")
    assert (found["cells"], found["records_a_cell"], warnings) == (150, 2.0, [])


def test_the_command_shows_what_a_sample_holds(run: Run, schema: Path, sample: Path) -> None:
    options = ["--dimensions", "dest", "--measures", "count(*)", "--grain", "1min", "--schema", schema]
    shown = run("cube", "check", "late", *options, "--time", "ts", "--sample", sample)
    assert shown.exit_code == 0, shown.output
    last, warning = shown.stdout.splitlines()[-2:]
    assert last.startswith("of 300 records it counts 300: 300 cells in 150 panes, ")
    assert re.search(r" bytes; 2\.0 cells a pane, [0-9,.]+ bytes a cell, 1\.0 records a cell$", last)
    assert warning == "warning: 300 cells of 300 records: group by less, or round"
    refused = run("cube", "check", "late", *options, "--sample", sample)
    assert refused.exit_code == 2
    assert "give --time beside --sample" in refused.output
    none = run("cube", "check", "late", *options, "--time", "ts", "--where", "x < 0", "--sample", sample)
    assert none.stdout.splitlines()[-1] == "of 300 records it counts 0"
    windows = ["--output", "dest", "--window", "1h", "--slide", "1h", "--late", "apart"]
    shown = run("cube", "check", "late", *options, *windows, "--time", "ts", "--sample", sample)
    assert shown.stdout.splitlines()[-2] == last
    refused = run("cube", "check", "late", *options[:-2], "--stream", "s", "--sample", sample)
    assert (refused.exit_code, "--sample goes with --schema" in refused.output) == (2, True)


def test_late_records_are_a_part_of_it(schema: Path) -> None:
    assert checked_cube("true", OPERATOR, schema, "UTC")["late"] == "merge"
    found = checked_cube("true", {**OPERATOR, "late": "apart"}, schema, "UTC")
    assert (found["late"], found["summary"].endswith(", late records apart")) == ("apart", True)
    with pytest.raises(AscError, match="late 'drop': is not known: give merge or apart"):
        checked_cube("true", {**OPERATOR, "late": "drop"}, schema, "UTC")
