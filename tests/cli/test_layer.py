"""``asc layer``: files put into a layer, what of them is refused, and predicates that name the shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Asc

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SQUARE = [[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]
BOW_TIE = [[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]


def feature(code: str, ring: object = SQUARE) -> dict[str, Any]:
    geometry = {"type": "Polygon", "coordinates": [ring]}
    return {"type": "Feature", "geometry": geometry, "properties": {"code": code}}


@pytest.fixture
def zones(tmp_path: Path) -> Path:
    """Two shapes, of which one is invalid."""
    path = tmp_path / "zones.geojson"
    document = {"type": "FeatureCollection", "features": [feature("square"), feature("bow-tie", BOW_TIE)]}
    path.write_text(json.dumps(document), "utf-8")
    return path


def test_a_file_is_put_and_what_is_refused_is_named(asc: Asc, zones: Path) -> None:
    refused = asc("layer", "put", "zones", zones, "--id", "code")
    assert refused.exit_code == 1
    assert refused.stdout.splitlines()[0] == "zones: 1 added, 1 refused"
    assert "refused: bow-tie Self-intersection at 1 1 (--repair mends it)\n" in refused.stderr
    assert "shapes that are refused: 1: the others are in layer 'zones'" in refused.stderr
    mended = asc("layer", "put", "zones", zones, "--id", "code", "--repair")
    assert (mended.exit_code, mended.stdout.splitlines()[0]) == (0, "zones: 1 added, 1 unchanged")
    assert "warning: bow-tie mended: Self-intersection at 1 1; its area was 0 and is 2" in mended.stderr
    found = json.loads(asc("layer", "put", "zones", zones, "--id", "code", "--json").stdout)
    assert (found["put"], found["removed"], list(found["refused"])) == (1, 0, ["bow-tie"])


def test_what_the_daemon_alone_refuses_is_named_and_the_rest_is_put(asc: Asc, tmp_path: Path) -> None:
    """The types of properties are in the daemon's configuration, not in the file."""
    rows = [{**feature("typed"), "id": "typed-good"}, {**feature("typed"), "id": "typed-bad"}]
    rows[1]["properties"]["high"] = "tall"
    path = tmp_path / "typed.ndjson"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    result = asc("layer", "put", "zones", path)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (1, "zones: 1 added, 1 refused")
    assert "refused: typed-bad property high 'tall': is none of its type" in result.stderr
    assert [one["id"] for one in asc.json("layer", "show", "zones", "--prefix", "typed-")["shapes"]] == ["typed-good"]
    # Also where it is all of them.
    path.write_text(json.dumps({**rows[1], "id": "y" * 2000}), "utf-8")
    result = asc("layer", "put", "zones", path)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (1, "zones: 1 refused")
    assert "printable characters" in result.stderr


def test_records_reach_the_queries_that_name_a_shape(asc: Asc, zones: Path, tmp_path: Path) -> None:
    asc("layer", "put", "zones", zones, "--id", "code")
    where = "ST_Contains(shape('zones', 'square'), ST_Point(delay, flight)) AND dest = 'LAYER'"
    assert asc("query", "add", "in-square", "--stream", "flights", "--where", where).exit_code == 0
    rows = tmp_path / "rows.ndjson"
    lines = [{"flight": 5, "delay": 5, "dest": "LAYER"}, {"flight": 50, "delay": 5, "dest": "LAYER"}]
    rows.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert asc("publish", "--stream", "flights", rows).exit_code == 0
    (delivery,) = asc.received("in-square", 1)
    assert json.loads(delivery["value"])["flight"] == 5
    assert asc("layer", "remove", "zones", "square").stdout.startswith("removed zones/square, version ")
    assert asc.json("query", "show", "in-square")["pending_shapes"] == ["zones/square"]
    assert "waits" in asc("query", "list", "--prefix", "in-square").stdout
    refused = asc("query", "check", "--stream", "flights", "--where", where)
    assert refused.exit_code == 1
    assert "no such shape" in refused.stderr
    asc("query", "remove", "in-square")


def test_prune_removes_what_the_file_has_not(asc: Asc, zones: Path, tmp_path: Path) -> None:
    asc("layer", "put", "zones", zones, "--id", "code")
    lines = tmp_path / "zones.ndjson"
    lines.write_text("\n".join(json.dumps(feature(f"n{i}")) for i in range(3)), "utf-8")
    assert asc("layer", "put", "zones", lines, "--id", "code", "--prune").stdout.startswith("zones: 3 added, ")
    assert [one["id"] for one in asc.json("layer", "show", "zones")["shapes"]] == ["n0", "n1", "n2"]
    # One whose new shape is refused keeps the one it has.
    lines.write_text(json.dumps(feature("n0")) + "\n" + json.dumps(feature("n1", BOW_TIE)), "utf-8")
    assert asc("layer", "put", "zones", lines, "--id", "code", "--prune").stdout.splitlines() == [
        "zones: 1 unchanged, 1 removed, 1 refused",
        "shapes: 3 before, 2 now; bounds: 0 0 10 10",
    ]
    assert [one["id"] for one in asc.json("layer", "show", "zones")["shapes"]] == ["n0", "n1"]


def test_a_rehearsal_changes_nothing_and_a_change_says_what_it_replaced(asc: Asc, tmp_path: Path) -> None:
    rows = tmp_path / "zones.ndjson"
    squares = [feature("moved"), feature("kept"), feature("gone")]
    rows.write_text("\n".join(map(json.dumps, squares)), "utf-8")
    assert asc("layer", "put", "zones", rows, "--id", "code", "--prune").exit_code == 0
    moved = feature("moved", [[-5, -5], [20, 0], [20, 30], [-5, -5]])
    rows.write_text("\n".join(map(json.dumps, [moved, feature("kept"), feature("new")])), "utf-8")
    put = ("layer", "put", "zones", rows, "--id", "code", "--prune")
    rehearsed = asc(*put, "--dry-run")
    assert rehearsed.stdout.splitlines() == [
        "zones (dry run): 1 added, 1 changed, 1 unchanged, 1 removed",
        "shapes: 3 before, 3 now; the file's bounds: -5 -5 20 30",
    ]
    assert [one["id"] for one in asc.json("layer", "show", "zones")["shapes"]] == ["gone", "kept", "moved"]
    assert asc.json("layer", "show", "zones")["bounds"] == [0, 0, 10, 10]
    assert asc(*put).stdout.splitlines() == [
        "zones: 1 added, 1 changed, 1 unchanged, 1 removed",
        "shapes: 3 before, 3 now; bounds: -5 -5 20 30",
    ]
    again = asc.json(*put)
    assert {name: again[name] for name in ("added", "changed", "unchanged", "removed", "rows_before", "rows")} == {
        **{"added": 0, "changed": 0, "unchanged": 3, "removed": 0},
        **{"rows_before": 3, "rows": 3},
    }


def test_a_layer_is_listed_and_shown(asc: Asc, tmp_path: Path) -> None:
    rows = tmp_path / "towns.csv"
    rows.write_text('id,wkt\nshown-a,POINT (8.5 47.25)\nshown-b,"LINESTRING (0 0, 1 1)"\n', "utf-8")
    assert asc("layer", "put", "zones", rows).exit_code == 0
    assert "zones  cli-zones  wgs84" in asc("layer", "list").stdout
    shown = asc("layer", "show", "zones", "--prefix", "shown-").stdout
    assert "shown-a  Point       1         8.5 47.25 8.5 47.25" in shown
    assert asc.json("layer", "show", "zones", "shown-a")["geometry"] == {"type": "Point", "coordinates": [8.5, 47.25]}
    cut = asc("layer", "show", "zones", "--max", "1").stdout
    assert "more (--max, --prefix)" in cut


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "nowhere"), "unknown layer 'nowhere': known: zones"),
        (("show", "zones", "gone"), "shape 'zones/gone': its layer has none of that id"),
        (("remove", "zones", "gone"), "shape 'zones/gone': its layer has none of that id"),
    ],
)
def test_what_is_not_there_is_one_line(arguments: tuple[str, ...], said: str, asc: Asc) -> None:
    result = asc("layer", *arguments)
    assert result.exit_code == 1
    assert result.stderr == f"error: {said}\n"


def test_a_file_that_is_none_changes_nothing(asc: Asc, tmp_path: Path) -> None:
    path = tmp_path / "zones.geojson"
    path.write_text("{", "utf-8")
    result = asc("layer", "put", "zones", path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: zones.geojson, the file '{': is no JSON")
