"""``asc demo cube``: a daemon that is killed while it counts, and a cube that equals DuckDB all the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from asc.schema import Schema
from broker.files.decoding import Decoding
from cli.demo import cube
from cli.demo.cube import CUBOIDS, DAY, OPERATOR, WHERE, compared, duckdb_groups
from cli.operators.cube.run import run_cube
from workloads.flights import SCHEMA, sample_path

Run = Callable[..., Result]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(900)
def test_a_cube_whose_daemon_is_killed_equals_duckdb(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from cli.main import main; main()", "demo", "cube", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["agrees"]
    assert 0 < report["killed_at"] < report["expected"] == 7_924
    accounting = report["accounting"]
    assert accounting["accepted"] == accounting["counted"] == report["expected"]
    assert accounting["whole"]
    assert len(report["cuboids"]) == 2 * len(CUBOIDS)
    assert max(own["groups"] for own in report["cuboids"]) == 355
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("days", [None, DAY])
def test_the_cube_of_the_sample_equals_duckdb_without_a_daemon(days: tuple[str, str] | None) -> None:
    decoding = Decoding(Schema.from_ddl(SCHEMA), {}, "UTC")
    interval = {} if days is None else {"from": days[0], "to": days[1]}
    for by in CUBOIDS[:1] if days else CUBOIDS[::5]:
        question = {"by": list(by), "limit": 100_000, **interval}
        rolled = run_cube([sample_path()], "csv", decoding, operator=OPERATOR, where=WHERE, question=question)
        rows = rolled.answer["rows"]
        own = {tuple(row["group"].values()): (row["flights"], row["delay"], row["worst"]) for row in rows}
        assert compared(own, duckdb_groups(by, days))["agrees"]


def report_of(cuboid: dict[str, Any]) -> dict[str, Any]:
    counts = {"accounting": "3 accepted = 3 counted (0 late) + 0 apart", "counted": 3, "cells": 2, "bytes": 99}
    return {
        "agrees": cuboid["agrees"],
        "expected": 3,
        "killed_at": 2,
        "cuboids": [{"by": ["carrier"], "interval": "all", **cuboid}],
        "rows": [{"group": {"carrier": "B6"}, "flights": 2, "delay": 61, "worst": 45}],
        "accounting": counts,
    }


def test_a_cube_that_equals_says_so_with_its_accounting(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = {("B6",): (2, 61, 45)}
    monkeypatch.setattr(cube, "run_cube", lambda: report_of(compared(groups, dict(groups))))
    shown = run("demo", "cube")
    assert shown.exit_code == 0, shown.output
    assert "B6             2     61     45\n" in shown.stdout
    assert "killed (kill -9) when it had counted 2 of 3 records" in shown.stdout
    assert "20,000 flights published; 3 accepted = 3 counted (0 late) + 0 apart; 2 cells, 99 bytes." in shown.stdout
    assert shown.stdout.endswith("OK: every group of the cube equals what DuckDB answers over the file.\n")


@pytest.mark.parametrize("other", [{("B6",): (2, 61, 46)}, {("B6",): (2, 61, 45), (None,): (1, 0, 0)}, {}])
def test_a_group_that_differs_ends_it_with_1(run: Run, monkeypatch: pytest.MonkeyPatch, other: Any) -> None:
    report = report_of(compared({("B6",): (2, 61, 45)}, other))
    monkeypatch.setattr(cube, "run_cube", lambda: report)
    shown = run("demo", "cube")
    assert shown.exit_code == 1
    assert shown.stdout.splitlines()[-1].startswith("FAILED: not every group")


def test_without_duckdb_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cube, "find_spec", lambda name: None)
    shown = run("demo", "cube")
    assert shown.exit_code == 1
    assert "pip install duckdb" in shown.stderr


def test_a_picture_is_of_aircraft_alone(run: Run) -> None:
    assert run("demo", "cube", "--picture", "map").exit_code == 2
