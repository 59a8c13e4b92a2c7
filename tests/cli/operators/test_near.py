"""``asc near``: registered, listed, and what it tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from cli.operators.near import near

if TYPE_CHECKING:
    from conftest import Asc

ONCE = ("--window", "30s", "--every", "10s")
POSITION = ("--position", "ST_Point(delay / 10, 40)")


@pytest.mark.parametrize("distance", ["nan", "inf", "-inf"])
def test_a_distance_is_a_number(distance: str) -> None:
    ran = CliRunner().invoke(near, ["add", "x", "--key", "k", "--distance", distance, *ONCE])
    assert ran.exit_code == 2
    assert "give a number of metres" in ran.output


@pytest.mark.kafka
@pytest.mark.spark
def test_what_is_near_is_told(asc: Asc, tmp_path: Path) -> None:
    common = ("--stream", "flights", "--key", "flight", *POSITION, "--where", "dest = 'NEAR'")
    times = ("--window", "1h", "--every", "1s", "--distance", 20_000)
    wrong = asc("near", "add", "close", *common, *times)
    assert wrong.exit_code == 1
    assert "window_s" in wrong.stderr
    times = ("--window", "30s", "--every", "1s", "--distance", 20_000)
    added = asc("near", "add", "close", *common, *times, "--label", "of=near")
    assert added.exit_code == 0, added.stderr
    assert added.stdout.startswith("registered close -> asc.close, version ")
    changes = asc("near", "add", "changes", *common, *times, "--on", "a.flight < b.flight", "--events", "near, apart")
    assert changes.exit_code == 0, changes.stderr
    records = tmp_path / "rows.ndjson"
    rows = [{"flight": n, "delay": delay, "dest": "NEAR"} for n, delay in ((1, 70), (2, 71), (3, 90))]
    records.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    listed = {one["id"]: one for one in asc.json("near", "list")}
    assert listed["close"]["operator"]["distance_m"] == 20_000
    assert listed["changes"]["operator"]["events"] == ["near", "apart"]
    lines = asc("near", "list").stdout.splitlines()
    assert lines[0].split()[:3] == ["id", "stream", "key"]
    assert "30 s / 1 s" in lines[-1]
    shown = asc("query", "show", "close").stdout
    assert "near pair of flight at _timestamp, within 20000 m at ST_Point(delay / 10, 40), 30 s each 1 s" in shown
    assert asc("publish", "--stream", "flights", records).exit_code == 0
    for query_id in ("close", "changes"):
        assert asc("query", "remove", query_id).exit_code == 0
    assert asc.json("near", "list") == []
