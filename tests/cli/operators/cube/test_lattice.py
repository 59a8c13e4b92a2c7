"""``asc cube lattice`` and ``asc cube optimise``: the views of a cube as people read them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner, Result

from cli.main import main

if TYPE_CHECKING:
    from cli.conftest import Address

BASE = {"cuboid": ["origin"], "grain_s": 3_600}
VIEWS: list[dict[str, Any]] = [
    {
        **{**BASE, "role": "base", "cells": 41_200, "bytes": 900_000, "is_estimated": False, "asked_an_hour": 0.0},
        **{"complete_to": "2013-07-10T00:00:00Z", "answered_from": BASE},
    },
    {
        **{"cuboid": [], "grain_s": 86_400, "role": "none", "cells": 30, "bytes": 900, "is_estimated": True},
        **{"asked_an_hour": 2.5, "complete_to": None, "answered_from": BASE},
    },
]
PLAN: dict[str, Any] = {
    **{"id": "late", "applied": True, "cells_an_hour": 50_000, "best_cells_an_hour": 800},
    "changes": [{"view": "origin at 1d", "change": "add", "cells": 96, "saved_cells_an_hour": 41_200}],
    "lines": ["+ origin at 1d: 96 cells, saves 41,200 cells an hour", "the best views found cost 800 cells an hour"],
}


def run(address: Address, command: str, answer: dict[str, Any], *options: str) -> Result:
    address.answers[f"/v1/queries/late/cube/{command}"] = [(200, json.dumps(answer))]
    return CliRunner().invoke(main, ["cube", command, "late", *options, "--server", address.url])


def test_the_lattice_is_a_table(address: Address) -> None:
    answer = {"id": "late", "commit": 7, "views": VIEWS, "count": 48}
    ran = run(address, "lattice", answer)
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.splitlines() == [
        "cuboid  grain  cells   bytes    asked an hour  materialised  complete to           answers from",
        "origin  1h     41,200  900,000  0              base          2013-07-10T00:00:00Z  origin at 1h",
        "()      1d     ~30     ~900     2.5                                                origin at 1h",
        "2 of 48 views",
    ]
    assert json.loads(run(address, "lattice", answer, "--json").stdout) == answer


def test_a_plan_has_a_line_for_each_change(address: Address) -> None:
    ran = run(address, "optimise", PLAN)
    assert (ran.exit_code, ran.stdout.splitlines()) == (0, PLAN["lines"])
    dry = run(address, "optimise", {**PLAN, "applied": False}, "--dry-run")
    assert dry.stdout.splitlines() == [*PLAN["lines"], "nothing is changed: leave --dry-run out"]
    assert json.loads(run(address, "optimise", PLAN, "--json").stdout) == PLAN
