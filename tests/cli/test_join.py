"""``asc join``: registered, listed and shown as a query, and what it delivers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Asc

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

WHERE = "ST_Contains(zones.geometry, ST_Point(delay, flight)) AND dest = 'JOIN' AND flight <= zones.high"


def feature(code: str, start: float, end: float, **properties: Any) -> dict[str, Any]:
    ring = [[start, start], [end, start], [end, end], [start, end], [start, start]]
    geometry = {"type": "Polygon", "coordinates": [ring]}
    return {"type": "Feature", "geometry": geometry, "properties": {"code": code, **properties}}


@pytest.fixture
def zones(asc: Asc, tmp_path: Path) -> Path:
    """Two shapes that overlap, in the layer."""
    path = tmp_path / "zones.ndjson"
    rows = [feature("wide", 0, 20, high=15), feature("small", 5, 10, high=100)]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    result = asc("layer", "put", "zones", path, "--id", "code", "--prune")
    assert result.exit_code == 0, result.stderr
    return path


def test_a_join_delivers_with_the_shapes_that_accept(asc: Asc, zones: Path, tmp_path: Path) -> None:
    added = asc("join", "add", "over", "--stream", "flights", "--layer", "zones", "--where", WHERE)
    assert added.exit_code == 0, added.stderr
    assert added.stdout.startswith("registered over -> asc.over, version ")
    pairs = ("--per-shape", "--topic", "each-pair", "--label", "of=joins")
    added = asc("join", "add", "each", "--stream", "flights", "--layer", "zones", "--where", WHERE, *pairs)
    assert added.exit_code == 0, added.stderr
    records = tmp_path / "rows.ndjson"
    rows = [{"flight": n, "delay": n, "dest": "JOIN"} for n in (7, 12, 18, 30)]
    records.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert asc("publish", "--stream", "flights", records).exit_code == 0
    found = asc.received("asc.over", 2)
    assert [(json.loads(one["value"])["flight"], one["shapes"]) for one in found] == [
        (7, ["over/small", "over/wide"]),
        (12, ["over/wide"]),
    ]
    assert {tuple(one["queries"]) for one in found} == {("over",)}
    each = [(json.loads(one["value"])["flight"], one["shapes"]) for one in asc.received("each-pair", 3)]
    assert sorted(each) == [(7, ["each/small"]), (7, ["each/wide"]), (12, ["each/wide"])]
    line = asc("subscribe", "asc.over", "--from-beginning", "--max", 1).stdout
    assert line.startswith("[over/small, over/wide] ")
    listed = {one["id"]: one for one in asc.json("query", "list", "--layer", "zones")}
    assert {name: (one["shapes"], one["join"]["per_shape"]) for name, one in listed.items()} == {
        "each": (2, True),
        "over": (2, False),
    }
    table = asc("query", "list", "--layer", "zones").stdout
    assert "over" in table
    assert "zones" in table
    assert "of=joins" in asc("query", "show", "each").stdout
    assert "over zones, a record a shape" in asc("query", "show", "each").stdout
    assert "excluded_shapes" not in asc("query", "show", "over").stdout.split("join")[0]
    for verb, state in (("pause", "paused"), ("resume", "running")):
        assert asc("query", verb, "over").exit_code == 0
        assert state in next(
            row for row in asc("query", "list", "--layer", "zones").stdout.splitlines() if row.startswith("over")
        )
    assert asc("query", "remove", "over", "each").exit_code == 0
    assert asc.json("query", "list", "--layer", "zones") == []


def test_a_query_with_a_layer_is_the_same_join(asc: Asc, zones: Path) -> None:
    of_layer = ("--stream", "flights", "--layer", "zones", "--where", WHERE, "--per-shape")
    added = asc.json("query", "add", "same", *of_layer)
    assert added["query"]["join"] == {"layer": "zones", "per_shape": True}
    assert (added["change"], added["query"]["where"]) == ("registered", WHERE)
    assert asc.json("join", "add", "same", *of_layer)["change"] == "unchanged"
    assert asc.json("query", "add", "same", *of_layer[:-1])["query"]["join"] == {"layer": "zones", "per_shape": False}
    assert asc("query", "remove", "same").exit_code == 0


def test_what_cannot_be_joined_is_one_line(asc: Asc, zones: Path) -> None:
    refused = asc("join", "add", "bad", "--stream", "flights", "--layer", "zones", "--where", "flight < zones.hihg")
    assert refused.exit_code == 1
    assert "unknown property 'zones.hihg': known of a row: geometry, high" in refused.stderr
    assert asc("query", "show", "nothing").exit_code == 1
    assert asc("join", "add", "bad", "--where", "true").exit_code == 2


def test_a_join_is_checked_before_it_is_one(asc: Asc, zones: Path) -> None:
    checked = asc("join", "check", "--stream", "flights", "--layer", "zones", "--where", "flight <= zones.high")
    assert checked.exit_code == 0, checked.stderr
    assert checked.stdout.startswith("for 2 shapes, of which 'small' accepts a record where\n")
    assert "flight <= 100" in checked.stdout
    found = asc.json("join", "check", "--stream", "flights", "--layer", "zones", "--where", "flight <= zones.high")
    assert (found["shapes"], found["shape"]) == (2, "small")
    refused = asc("join", "check", "--stream", "flights", "--layer", "zones", "--where", "flight <= zones.low")
    assert refused.exit_code == 1
    assert "unknown property" in refused.stderr


def test_the_events_of_a_join_are_shown_in_words(asc: Asc, zones: Path) -> None:
    common = ("--stream", "flights", "--layer", "zones", "--where", WHERE, "--events", "enter,exit", "--key", "dest")
    checked = asc("events", "check", "told", *common)
    assert checked.exit_code == 0, checked.stderr
    assert "the operator reads\n  CAST(dest AS STRING)  string" in checked.stdout
    added = asc("events", "add", "told", *common)
    assert added.exit_code == 0, added.stderr
    shown = dict(line.split(maxsplit=1) for line in asc("query", "show", "told").stdout.splitlines() if " " in line)
    assert shown["operator"].startswith("events: ")
    assert (shown["operator.events"], shown["operator.key"]) == ("enter, exit", "dest")
    assert (shown["operator.time"], shown["operator.lost_after_s"]) == ("_timestamp", "3,600")
    asc("query", "remove", "told")


def test_files_of_queries_have_joins(asc: Asc, zones: Path, tmp_path: Path) -> None:
    asc("join", "add", "filed", "--stream", "flights", "--layer", "zones", "--where", WHERE)
    for form in ("toml", "ndjson", "json"):
        path = tmp_path / f"queries.{form}"
        path.write_text(asc("query", "list", "--prefix", "filed", "--format", form).stdout, "utf-8")
        assert "zones" in path.read_text("utf-8")
        applied = asc("query", "apply", path, "--dry-run")
        assert "0 to add, 0 to change, 0 to remove, 1 unchanged" in applied.stdout
    least = tmp_path / "least.ndjson"
    line = {"id": "filed", "stream": "flights", "where": WHERE, "join": {"layer": "zones"}}
    least.write_text(json.dumps(line), "utf-8")
    assert "1 unchanged" in asc("query", "apply", least, "--dry-run").stdout
    asc("query", "remove", "filed")
