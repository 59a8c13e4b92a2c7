"""``asc events``: its options as the operator of a query, checked without a daemon."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main

DDL = "icao24 STRING, ts TIMESTAMP, altitude DOUBLE, longitude DOUBLE, latitude DOUBLE"
WHERE = ("--where", "altitude < 1000")


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "aircraft.ddl"
    path.write_text(DDL, "utf-8")
    return path


def test_the_options_of_add_are_checked_by_a_schema_alone(schema: Path) -> None:
    given = (*WHERE, "--key", "icao24", "--time", "ts", "--events", "enter, lost", "--dwell", "30s")
    ran = CliRunner().invoke(main, ["events", "check", "low", *given, "--schema", str(schema)])
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.splitlines() == [
        "accepts a record where",
        "     altitude < 1000.0",
        "p-attributes",
        "  altitude  DOUBLE  column",
        "the operator reads",
        "  CAST(icao24 AS STRING)  string",
        "  unix_micros(ts)  int64",
    ]
    ran = CliRunner().invoke(main, ["events", "check", "low", *given, "--schema", str(schema), "--json"])
    assert [one["sql"] for one in json.loads(ran.stdout)["expressions"]] == [
        "CAST(icao24 AS STRING)",
        "unix_micros(ts)",
    ]


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ((), 2, "missing option '--key'"),
        (("--key", "callsign"), 1, "'callsign': unknown column 'callsign'"),
        (("--key", "icao24", "--time", "altitude"), 1, "operator.time 'altitude': is no TIMESTAMP"),
        (("--key", "icao24", "--events", "enter,left"), 1, "operator.events 'left'"),
        (("--key", "icao24", "--dwell", "40d"), 2, "'--dwell': '40d' is too long: write a time from 0s to 30d"),
        (("--key", "icao24", "--lost-after", "31d"), 2, "'--lost-after': '31d' is too long: write a time from 1ms"),
        (("--key", "icao24", "--lost-after", "0s"), 2, "'--lost-after': '0s' is too short: write a time from 1ms"),
        (("--key", "icao24", "--layer", "zones"), 2, "--layer goes with --stream"),
    ],
    ids=["key", "column", "time", "event", "dwell", "long", "short", "layer"],
)
def test_refused_options_are_named(schema: Path, given: tuple[str, ...], code: int, said: str) -> None:
    ran = CliRunner().invoke(main, ["events", "check", "low", *WHERE, *given, "--schema", str(schema)])
    assert ran.exit_code == code
    assert said in ran.output


def test_an_id_is_checked(schema: Path) -> None:
    ran = CliRunner().invoke(main, ["events", "check", "a/b", *WHERE, "--key", "icao24", "--schema", str(schema)])
    assert ran.exit_code == 1
    assert "'a/b': use 1 to 200 of" in ran.output


def test_events_are_an_operator_of_their_own_command() -> None:
    ran = CliRunner().invoke(main, ["query", "add", "low", *WHERE, "--events", "enter"])
    assert ran.exit_code == 2
    assert "no such option" in ran.output
