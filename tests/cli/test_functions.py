"""``asc functions``."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from asc.predicate.catalogue.builtins import builtins
from asc.predicate.catalogue.spatial_builtins import spatial_builtins
from cli.main import main


def printed(*words: str) -> str:
    result = CliRunner().invoke(main, ["functions", *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_whole_list() -> None:
    lines = printed().splitlines()
    assert len(lines) == len(builtins()) + len(spatial_builtins()) + 1
    assert "date_trunc                   allowed  string, date or timestamp" in lines
    assert "sum                          refused  aggregate: a predicate sees one record at a time" in lines


def test_one_function_with_an_example() -> None:
    assert printed("DATE_TRUNC").splitlines() == [
        "date_trunc(string, date or timestamp): allowed, dates and timestamps",
        "result if an argument is NULL: NULL",
        "for example: date_trunc('HOUR', ts)",
    ]
    assert printed("sum") == "sum: refused, aggregate: a predicate sees one record at a time\n"


def test_as_json() -> None:
    assert json.loads(printed("length", "--json"))["arguments"] == "string"
    assert len(json.loads(printed("--json"))) == len(builtins()) + len(spatial_builtins())


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("lenght", "did you mean 'length'?"), ("xyzzy", "'asc functions' lists those that are allowed")],
)
def test_a_name_that_spark_has_not(name: str, remedy: str) -> None:
    result = CliRunner().invoke(main, ["functions", name])
    assert result.exit_code == 1
    assert f"unknown function '{name}': {remedy}" in result.stderr
