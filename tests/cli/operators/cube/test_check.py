"""Checks of cubes without a daemon."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from asc.errors import AscError
from cli.operators.cube.check import checked_cube, show_check

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


def test_many_cuboids_are_counted_and_some_shown(schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many = {**OPERATOR, "dimensions": [[f"delay + {n}"] for n in range(6)]}
    show_check(checked_cube("true", many, schema, "UTC"), as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert "it has 64 cuboids" in lines
    assert lines[-1] == "  and 32 more"


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"measures": ["sum(origin)"]}, "origin is STRING"), ({"dimensions": [["dst"]]}, "unknown column 'dst'")],
)
def test_what_is_refused_is_refused_as_at_registration(schema: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(AscError, match=said):
        checked_cube("true", {**OPERATOR, **changed}, schema, "UTC")
