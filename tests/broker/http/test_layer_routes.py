"""Layers over HTTP: rows put, shown and removed; what is refused, and to whom."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from broker.access.scope import Scope
from broker.errors import ForbiddenError
from broker.http import layer_routes

if TYPE_CHECKING:
    from conftest import Resting
    from fastapi.testclient import TestClient
    from httpx import Response

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def feature(x: float = 0, **more: Any) -> dict[str, Any]:
    ring = [[x, 0], [x + 1, 0], [x + 1, 1], [x, 1], [x, 0]]
    return {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}, "properties": {}, **more}


def put(api: TestClient, *lines: object, layer: str = "zones", **params: str) -> Response:
    content = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    headers = {"content-type": "application/x-ndjson"}
    return api.post(f"/v1/layers/{layer}/shapes", content=content.encode(), headers=headers, params=params)


def test_rows_are_put_shown_in_pages_and_removed(api: TestClient) -> None:
    answer = put(api, *(feature(i, id=f"page-{i}") for i in range(5)))
    assert answer.status_code == 200, answer.text
    assert (answer.json()["put"], answer.json()["errors"], answer.json()["warnings"]) == (5, [], {})
    first = api.get("/v1/layers/zones/shapes", params={"prefix": "page-", "limit": "2"}).json()
    assert [one["id"] for one in first["shapes"]] == ["page-0", "page-1"]
    assert first["shapes"][1] == {"id": "page-1", "kind": "Polygon", "vertices": 5, "bounds": [1.0, 0.0, 2.0, 1.0]}
    rest = api.get("/v1/layers/zones/shapes", params={"prefix": "page-", "limit": "3", "cursor": first["cursor"]})
    assert ([one["id"] for one in rest.json()["shapes"]], rest.json()["cursor"]) == (
        ["page-2", "page-3", "page-4"],
        None,
    )
    assert api.get("/v1/layers/zones/shapes/page-3").json()["geometry"]["coordinates"][0][0] == [3.0, 0.0]
    gone = put(api, *({"remove": f"page-{i}"} for i in range(4))).json()
    assert (gone["put"], gone["removed"]) == (0, 4)
    assert api.delete("/v1/layers/zones/shapes/page-4").json()["removed"] == 1
    assert api.delete("/v1/layers/zones/shapes/page-4").status_code == 404
    assert api.get("/v1/layers/zones/shapes/page-4").status_code == 404


def test_a_rehearsal_tells_what_a_change_would_do_and_changes_nothing(api: TestClient) -> None:
    assert put(api, feature(1, id="dry-a"), feature(2, id="dry-b")).json()["added"] == 2
    lines = (feature(1, id="dry-a"), feature(9, id="dry-b"), feature(3, id="dry-c"), {"remove": "dry-a2"})
    before = api.get("/v1/layers/zones").json()
    tried = put(api, *lines, dry_run="true").json()
    assert api.get("/v1/layers/zones").json() == before
    made = put(api, *lines).json()
    for answer in (tried, made):
        counts = [answer[name] for name in ("put", "added", "changed", "unchanged", "removed")]
        assert counts == [3, 1, 1, 1, 1]
    assert tried["version"] < made["version"]
    assert (tried["effective_offsets"], bool(made["effective_offsets"])) == ({}, True)
    assert put(api, feature(1, id="dry-a", properties={"n": 1})).json()["changed"] == 1
    west, south, east, north = api.get("/v1/layers/zones").json()["bounds"]
    assert (west <= 1, south, east >= 10, north >= 1) == (True, 0, True, True)
    put(api, *({"remove": f"dry-{name}"} for name in "abc"))


def test_one_row_of_any_id(api: TestClient) -> None:
    answer = api.put("/v1/layers/zones/shapes/%C3%98%2F1 x", json=feature(3, properties={"n": "Æ"}))
    assert answer.status_code == 200, answer.text
    found = api.get("/v1/layers/zones/shapes/%C3%98%2F1 x").json()
    assert (found["id"], found["properties"]) == ("Ø/1 x", {"n": "Æ"})
    plans = api.get("/v1/plan").json()["streams"].values()
    assert {one["version"] for one in plans} == {answer.json()["version"]}


def test_layers_are_listed(api: TestClient, resting: Resting) -> None:
    put(api, feature(id="listed"))
    found = {one["name"]: one for one in api.get("/v1/layers").json()["layers"]}
    assert set(found) == {"plane", "zones"}
    assert found["zones"]["topic"] == resting.config.layers["zones"].topic
    assert found["plane"]["crs"] == "planar"
    shown = api.get("/v1/layers/zones").json()
    assert shown["rows"] == found["zones"]["rows"] > 0
    assert shown["offsets"]["0"] > 0


def test_a_load_is_all_or_nothing_or_keeps_going(api: TestClient) -> None:
    lines = [
        feature(id="good"),
        "",
        "{",
        feature(id="good"),
        feature(),
        {"remove": 3.5},
        {**feature(id="flat"), "geometry": 3},
    ]
    refused = put(api, *lines)
    assert refused.status_code == 400
    assert [(one["line"], one["id"]) for one in refused.json()["errors"]] == [
        (3, None),
        (4, "good"),
        (5, None),
        (6, None),
        (7, "flat"),
    ]
    assert "nothing was written; line 3" in refused.json()["error"]["message"]
    assert api.get("/v1/layers/zones/shapes/good").status_code == 404
    kept = put(api, *lines, keep_going="true")
    assert (kept.status_code, kept.json()["put"], len(kept.json()["errors"])) == (200, 1, 5)
    assert put(api, "").status_code == 400
    assert put(api, {"remove": "a", "id": "b"}).status_code == 400


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("get", "/v1/layers/nowhere", 400),
        ("get", "/v1/layers/nowhere/shapes", 400),
        ("get", "/v1/layers/zones/shapes?limit=0", 400),
        ("get", "/v1/layers/zones/shapes?limit=1001", 400),
        ("delete", "/v1/layers/nowhere/shapes/a", 400),
    ],
)
def test_what_is_not_there(method: str, path: str, status: int, api: TestClient) -> None:
    answer = api.request(method, path)
    assert answer.status_code == status
    assert "\n" not in answer.json()["error"]["message"]


def test_what_a_shape_is_refused_for_has_its_status(api: TestClient) -> None:
    answer = api.put("/v1/layers/zones/shapes/bad", json={"type": "Point"})
    assert (answer.status_code, api.put("/v1/layers/zones/shapes/bad", json=[]).status_code) == (400, 400)
    assert "GeoJSON of type 'Point'" in answer.json()["error"]["message"]
    assert api.put(f"/v1/layers/zones/shapes/{'x' * 501}", json=feature()).status_code == 400


def test_a_layer_is_written_by_those_who_see_all(resting: Resting) -> None:
    for scope in (Scope("a", read_only=True), Scope("b", id_prefix="b-"), Scope("c", streams=frozenset(("x",)))):
        with pytest.raises(ForbiddenError):
            resting.within(scope).write_layer("zones", {"a": b"{}"}, [])
        assert "zones" in resting.within(scope).layers


def test_a_query_tells_what_it_waits_for(api: TestClient, resting: Resting) -> None:
    put(api, feature(id="waited"))
    where = "ST_Contains(shape('zones', 'waited'), ST_Point(d, n))"
    body = {"id": "waiting", "where": where, "topic": "waiting", "stream": resting.stream("json")}
    answer = api.post("/v1/queries", json=body)
    assert (answer.status_code, answer.json()["query"]["pending_shapes"]) == (201, [])
    assert api.get("/v1/queries/waiting").json()["pending_shapes"] == []
    traced = api.post("/v1/trace", json={"tuple": {"d": 1.5, "n": 1}, "query": "waiting"}).json()
    explained = api.post("/v1/queries/waiting/explain", json={"tuple": {"d": 1.5, "n": 1}}).json()
    assert [term["constraint"] for one in traced["verdict"]["conjuncts"] for term in one["terms"]] == [where]
    assert where in explained["text"]
    assert "ST_GeomFromText" not in json.dumps([traced["verdict"], traced["trace"], explained])
    api.delete("/v1/layers/zones/shapes/waited")
    shown = api.get("/v1/queries/waiting").json()
    assert (shown["pending_shapes"], shown["served"]) == (["zones/waited"], True)
    warnings = api.post("/v1/queries/waiting/explain", json={}).json()["warnings"]
    assert warnings == ["waits for zones/waited, not in the layer: NULL until it is put"]
    assert api.post("/v1/check", json={"where": where, "stream": resting.stream("json")}).status_code == 400
    # What an answer has can be sent again.
    assert api.put("/v1/queries/waiting", json=shown).status_code == 200
    api.delete("/v1/queries/waiting")


def test_rows_that_take_too_long_to_judge_are_not_written(api: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second a look at the clock, of which two are allowed: three rows are judged at a time."""
    ticks = iter(range(1_000))
    monkeypatch.setattr(layer_routes, "monotonic", lambda: float(next(ticks)))
    monkeypatch.setattr(layer_routes, "_JUDGED_WITHIN_S", 2.0)
    monkeypatch.setattr(layer_routes, "_JUDGED_TOGETHER_BYTES", 300)
    answer = put(api, *(feature(i, id=f"slow-{i}") for i in range(9)))
    assert answer.status_code == 400
    assert "6 of 9 judged in 2 s" in answer.json()["error"]["message"]
    assert api.get("/v1/layers/zones/shapes", params={"prefix": "slow-"}).json()["shapes"] == []
    assert put(api, *(feature(i, id=f"slow-{i}") for i in range(3))).json()["put"] == 3
    assert put(api, *({"remove": f"slow-{i}"} for i in range(3))).json()["removed"] == 3
