"""``asc cube query``: an answer as people read it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from cli.main import main

if TYPE_CHECKING:
    from cli.conftest import Address

ANSWER: dict[str, Any] = {
    "interval": None,
    "watermark": "2013-07-10T00:00:00Z",
    "whole": True,
    "gaps": [],
    "commit": 1,
    "open_panes": 0,
    "answered_by": [],
    "groups": 1,
    "overflows": 0,
    "rows": [{"group": {}, "n": 0}],
    "roll_up": [],
    "drill_down": [],
    "cursor": None,
}


def query(address: Address, *arguments: str, **answer: Any) -> Result:
    address.answers["/v1/queries/late/cube/query"] = [(200, json.dumps({**ANSWER, **answer}))]
    ran = CliRunner().invoke(main, ["cube", "query", "late", *arguments, "--server", address.url])
    assert ran.exit_code == 0, ran.stderr
    return ran


@pytest.mark.parametrize(
    ("open_panes", "arguments", "warning"),
    [
        (0, [], ""),
        (1, [], "warning: 1 pane is open and not included: add --live\n"),
        (2_000, [], "warning: 2,000 panes are open and not included: add --live\n"),
        (2, ["--live"], ""),
        (2, ["--json"], ""),
    ],
)
def test_open_panes_that_are_not_in_the_answer_are_told(
    address: Address, open_panes: int, arguments: list[str], warning: str
) -> None:
    assert query(address, *arguments, open_panes=open_panes).stderr == warning


SOURCE = {"cuboid": ["origin", "carrier"], "grain_s": 86_400, "panes": 3, "cells": 1_200}
BASE = {"cuboid": ["origin", "dest", "carrier"], "grain_s": 3_600, "panes": 2, "cells": 1}


@pytest.mark.parametrize(
    ("arguments", "sources", "line"),
    [
        ([], [], ""),
        (["--answer-from", "carrier"], [], "answered from no stored cell"),
        ([], [SOURCE], "answered from origin, carrier at 1d (1,200 cells)"),
        (
            ["--answer-from", "origin, carrier at 1d"],
            [BASE, SOURCE],
            "answered from origin, dest, carrier at 1h (1 cell); origin, carrier at 1d (1,200 cells)",
        ),
    ],
)
def test_the_stored_views_of_an_answer_are_under_the_table(
    address: Address, arguments: list[str], sources: list[dict[str, Any]], line: str
) -> None:
    lines = query(address, *arguments, answered_by=sources).stdout.splitlines()
    assert [own for own in lines if own.startswith("answered from")] == ([line] if line else [])
    assert "answered from" not in query(address, *arguments, "--json", answered_by=sources).stdout
