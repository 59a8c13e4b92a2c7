"""``asc cube bins`` and ``asc cube rebin``: bins and their errors as people read them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner, Result

from cli.main import main

if TYPE_CHECKING:
    from cli.conftest import Address

ERRORS = {"rmse": 1.25, "nrmse": 0.0154, "rmse_sd": 0.077}
BINS: dict[str, Any] = {
    "id": "air",
    "bins": [
        {
            **{"name": "temp", "calibrated": "bins(temp, 4, [28, 57.0, 73.7]) AS temp"},
            **{"dimension": "bins(temp, 4) AS temp", "levels": ["temp:2", "temp:4"], "edges": [28.0, 57.0, 73.7]},
            "sample": {"values": 10_000, "least": -3.5, "greatest": 99.0, "errors": ERRORS},
            "counted": {"values": 0, "not_finite": 0, "errors": None, "bins": []},
            "reason": None,
        }
    ],
}
EFFECT: dict[str, Any] = {
    **{"id": "air", "applied": False, "deleted_cells": 1_200, "deleted_panes": 3},
    "bins": [{"calibrated": "bins(temp, 4, [1, 2, 3]) AS temp"}],
    "lines": ["temp: 4 bins become 4, error 0.01 of the range", "deletes 1,200 cells in 3 panes"],
}


def run(address: Address, command: str, answers: list[dict[str, Any]], *options: str, given: str = "") -> Result:
    path = f"/v1/queries/air/cube/{command}"
    address.answers[path] = [(200, json.dumps(answer)) for answer in answers]
    return CliRunner().invoke(main, ["cube", command, "air", *options, "--server", address.url], input=given)


def test_bins_are_a_table_of_errors_and_a_line_of_edges(address: Address) -> None:
    ran = run(address, "bins", [BINS])
    assert ran.exit_code == 0, ran.output
    lines = ran.stdout.splitlines()
    assert lines[0].split() == ["dimension", "bins", "records", "rmse", "of", "the", "range", "standard", "deviations"]
    assert lines[1].split()[-5:] == ["10,000", "sample", "1.25", "0.0154", "0.077"]
    assert lines[2].split()[-3:] == ["4", "0", "counted"]
    assert lines[3] == "temp: 28, 57, 73.7"
    assert json.loads(run(address, "bins", [BINS], "--json").stdout) == BINS


def test_a_reason_for_missing_errors_is_shown(address: Address) -> None:
    without = {**BINS["bins"][0], "counted": None, "reason": "from: older panes have no temp:4"}
    ran = run(address, "bins", [{"id": "air", "bins": [without]}])
    assert ran.stdout.splitlines()[-1] == "temp: no errors of counted records: from: older panes have no temp:4"
    assert run(address, "bins", [{"id": "air", "bins": []}]).stdout.splitlines()[-1] == "the cube has no bins"


def test_new_edges_are_asked_for_and_then_those_that_were_shown(address: Address) -> None:
    ran = run(address, "rebin", [EFFECT, {**EFFECT, "applied": True}], given="y\n")
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.splitlines() == EFFECT["lines"]
    assert "delete these cells? [y/N]" in ran.stderr
    assert run(address, "rebin", [EFFECT], given="n\n").exit_code == 1


def test_a_dry_run_says_that_nothing_is_changed(address: Address) -> None:
    ran = run(address, "rebin", [EFFECT], "--dry-run")
    assert ran.stdout.splitlines() == [*EFFECT["lines"], "nothing is changed: leave --dry-run out"]
    both = run(address, "rebin", [EFFECT], "--dry-run", "--yes")
    assert (both.exit_code, "give --dry-run or --yes, not both" in both.output) == (2, True)
