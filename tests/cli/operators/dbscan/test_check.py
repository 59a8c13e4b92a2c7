"""``asc dbscan check``: types, warnings and the next ends of windows, without a daemon."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.operators.dbscan.definition import StandingDbscan
from cli.main import main
from cli.operators.dbscan.check import next_ends

NOW = datetime(2026, 6, 1, 12, 0, 30, tzinfo=timezone.utc)
OWN = {"name": "dbscan", "attributes": ["x"], "eps": 1, "min_samples": 2}


def check(folder: Path, *options: str) -> Result:
    schema = folder / "rows.ddl"
    schema.write_text("x DOUBLE, y INT, s STRING, ts TIMESTAMP, lon DOUBLE, lat DOUBLE", "utf-8")
    return CliRunner().invoke(main, ["dbscan", "check", "dense", "--schema", str(schema), *options])


def test_ends_are_those_of_the_schedule() -> None:
    timed = StandingDbscan.parse({**OWN, "window_s": 600, "slide_s": 60})
    assert next_ends(timed, NOW)[:2] == ["2026-06-01T12:01:00.000000Z", "2026-06-01T12:02:00.000000Z"]
    # A window that ends now has ended.
    assert next_ends(timed, NOW.replace(second=0))[0] == "2026-06-01T12:01:00.000000Z"
    counted = StandingDbscan.parse({**OWN, "window_points": 10, "slide_points": 4})
    assert next_ends(counted, NOW) == [10, 14, 18, 22, 26, 30, 34, 38, 42, 46]


def test_types_ends_and_warnings_are_shown(tmp_path: Path) -> None:
    plain = ("--attributes", "x * 2, y", "--time", "ts", "--eps", "0.5,1", "--min-samples", "2,3")
    ran = check(tmp_path, *plain, "--window", "10", "--slide", "10", "--where", "y > 3")
    assert ran.exit_code == 0, ran.output
    lines = ran.output.splitlines()
    assert "warning: slide = window: consecutive windows share no point, so no id lasts" in lines
    assert {"  x * 2  double", "  y  int32", "  unix_micros(ts)  int64"} <= set(lines)
    assert lines[-2:] == [
        "4 queries: dense.1 to dense.4",
        "next ends of windows: 10, 20, 30, 40, 50, 60, 70, 80, 90, 100",
    ]
    ran = check(tmp_path, *plain, "--window", "10", "--slide", "10", "--json")
    found = json.loads(ran.output)
    assert (len(found["window_ends"]), found["queries"]) == (10, ["dense.1", "dense.2", "dense.3", "dense.4"])


def test_a_window_over_the_default_limit_is_refused(tmp_path: Path) -> None:
    plain = ("--attributes", "x", "--eps", "0.5", "--min-samples", "2,3")
    ran = check(tmp_path, *plain, "--window", "200000", "--slide", "1000")
    assert ran.exit_code == 0, ran.output
    ran = check(tmp_path, *plain, "--window", "200001", "--slide", "1000")
    assert ran.exit_code == 1
    assert ran.stderr == (
        "error: operator.window_points 200001: is more than the 200,000 points of a window: shorten it, or raise "
        "limits.stream_dbscan_points and check with --stream\n"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--attributes", "s", "--eps", "1"), "error: operator.attributes 's': is STRING, no number: name a numeric"),
        (("--attributes", "1", "--eps", "1"), "error: operator.attributes '1': is the same for every record"),
        (("--attributes", "x", "--eps", "0"), "error: operator.eps 0: give a radius above 0"),
        (("--attributes", "x", "--eps", "1,1e200"), "error: operator.eps 1e+200: give a radius"),
        (("--position", "lon", "--eps", "5"), "error: operator.position 'lon': "),
        (("--attributes", "x", "--eps", "1", "--time", "y"), "error: operator.time 'y': is no TIMESTAMP"),
    ],
)
def test_a_refusal_is_one_line_with_the_field(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    ran = check(tmp_path, *options, "--min-samples", "2", "--window", "1min", "--slide", "10s")
    assert ran.exit_code == 1
    assert ran.stderr.startswith(said), ran.stderr
    assert ran.stderr.count("\n") == 1
