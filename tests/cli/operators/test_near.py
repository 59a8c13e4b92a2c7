"""``asc near``: registered, listed as a query, and what arrives."""

from __future__ import annotations

import json
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from cli.operators.near import near

if TYPE_CHECKING:
    from conftest import Asc

ONCE = ("--window", "30s", "--every", "10s")
POSITION = ("--position", "ST_Point(flight / 10, 40)")
BEGIN_S = 1_700_000_000
TIME = f"timestamp_seconds({BEGIN_S} + delay)"


@pytest.mark.parametrize("distance", ["nan", "inf", "-inf", "5km"])
def test_a_distance_is_a_number(distance: str) -> None:
    ran = CliRunner().invoke(near, ["add", "x", "--key", "k", "--distance", distance, *ONCE])
    assert ran.exit_code == 2
    assert f"'{distance}' is no distance: write a number of metres without a unit" in ran.output


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ((), 0, "accepts every record\nthe operator reads\n  CAST(icao24 AS STRING)  string\n"),
        (("--on", "a.altitude < b.altitude"), 0, "  altitude  double\n"),
        (("--on", "a.altitude > 'high'"), 0, "warning: operator.on: 'high' is no number"),
        (("--on", "a.altitude < c.altitude"), 1, "c.altitude"),
        (
            ("--window", "1h"),
            1,
            "window_s 3600: is over 100 times every_s, which is 10: shorten it, or lengthen every_s",
        ),
        (("--window", "2d"), 2, "'2d' is too long: write a time from 1ms to 1d"),
        (("--every", "1ms"), 2, "'1ms' is too short: write a time from 100ms to 1d"),
        (("--position", "altitude"), 1, "operator.position 'altitude'"),
    ],
    ids=["plain", "condition", "warning", "object", "window", "long", "short", "position"],
)
def test_the_options_of_add_are_checked_by_a_schema_alone(
    given: tuple[str, ...], code: int, said: str, tmp_path: Path
) -> None:
    schema = tmp_path / "aircraft.ddl"
    schema.write_text("icao24 STRING, ts TIMESTAMP, altitude DOUBLE, longitude DOUBLE, latitude DOUBLE", "utf-8")
    options = ("--key", "icao24", "--time", "ts", "--distance", "9260", *ONCE, *given)
    ran = CliRunner().invoke(near, ["check", "close", *options, "--schema", str(schema)])
    assert ran.exit_code == code, ran.output
    assert said in (str(ran.exception) if code == 1 else ran.output)


@pytest.mark.nightly
@pytest.mark.kafka
@pytest.mark.spark
def test_the_topics_get_the_pairs_that_are_near(asc: Asc, tmp_path: Path) -> None:
    common = ("--stream", "flights", "--key", "flight", "--time", TIME, *POSITION, "--where", "dest = 'NEAR'")
    wrong = asc("near", "add", "close", *common, "--window", "1h", "--every", "1s", "--distance", 20_000)
    assert wrong.exit_code == 1
    assert "window_s" in wrong.stderr
    times = ("--window", "3s", "--every", "1s", "--distance", 20_000)
    added = asc("near", "add", "close", *common, *times, "--label", "of=near")
    assert added.exit_code == 0, added.stderr
    assert added.stdout.startswith("registered close -> asc.close, version ")
    changes = asc("near", "add", "changes", *common, *times, "--on", "a.flight < b.flight", "--events", "near, apart")
    assert changes.exit_code == 0, changes.stderr
    listed = {one["id"]: one for one in asc.json("query", "list", "--operator", "near")}
    assert listed["close"]["operator"]["distance_m"] == 20_000
    assert listed["changes"]["operator"]["events"] == ["near", "apart"]
    lines = asc("query", "list", "--operator", "near").stdout.splitlines()
    assert lines[0].split()[:2] == ["id", "stream"]
    assert "pair: within 20000 m, every 1 s" in lines[-1]
    assert "close" not in asc("query", "list", "--operator", "route").stdout
    shown = dict(line.split(maxsplit=1) for line in asc("query", "show", "close").stdout.splitlines() if " " in line)
    assert shown["operator"] == "near: pair: within 20000 m, every 1 s"
    assert (shown["operator.key"], shown["operator.time"]) == ("flight", TIME)
    assert (shown["operator.position"], shown["operator.distance_m"]) == ("ST_Point(flight / 10, 40)", "20,000")

    publish(asc, tmp_path, [(1, 0), (2, 0), (9, 0)])
    pairs = received(asc, tmp_path, "asc.close", 3)
    # Flights 1 and 2 are 8.5 km apart, flight 9 is 60 km away; what was seen at second 0 counts for three ticks.
    assert [(pair["event"], pair["keys"], second_of(pair)) for pair in pairs] == [
        ("pair", ["1", "2"], second) for second in (0, 1, 2)
    ]
    assert [pair["distance_m"] for pair in pairs] == pytest.approx([8_518] * 3, abs=5)
    assert [(pair["event"], pair["keys"], second_of(pair)) for pair in received(asc, tmp_path, "asc.changes", 2)] == [
        ("near", ["1", "2"], 0),
        ("apart", ["1", "2"], 3),
    ]
    deadline = time.monotonic() + 60
    while any(one["kept"] is None for one in asc.json("query", "list", "--operator", "near")):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    header = asc("query", "list", "--operator", "near").stdout.splitlines()[0].split()
    assert header[-3:] == ["observations", "operator", "where"]
    for query_id in ("close", "changes"):
        assert asc("query", "remove", query_id).exit_code == 0
    assert asc.json("query", "list", "--operator", "near") == []


def publish(asc: Asc, folder: Path, rows: list[tuple[int, int]]) -> None:
    """Send flights, each with its second."""
    file = folder / "rows.ndjson"
    file.write_text("\n".join(json.dumps({"flight": n, "delay": s, "dest": "NEAR"}) for n, s in rows), "utf-8")
    sent = asc("publish", "--stream", "flights", file)
    assert sent.exit_code == 0, sent.stderr


def received(asc: Asc, folder: Path, topic: str, count: int) -> list[dict[str, Any]]:
    """Return what is in a topic, once there is so much: batches with later records make ticks final."""
    end_s = time.monotonic() + 120
    while True:
        publish(asc, folder, [(50, 100)])
        read = asc("subscribe", topic, "--exit", "--json")
        values = [json.loads(json.loads(line)["value"]) for line in read.stdout.splitlines()]
        if len(values) >= count:
            return values
        assert time.monotonic() < end_s, (values, read.stderr, asc("status").stdout)
        time.sleep(0.5)


def second_of(pair: dict[str, Any]) -> float:
    return datetime.fromisoformat(pair["time"].replace("Z", "+00:00")).timestamp() - BEGIN_S
