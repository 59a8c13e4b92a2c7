"""Joins over HTTP: registered, listed by layer, changed as queries are; what is refused, and to whom."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from broker.access.scope import Scope
from broker.errors import ForbiddenError, UnknownQueryError
from broker.queries.change import Put

if TYPE_CHECKING:
    from conftest import Resting
    from fastapi.testclient import TestClient

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def feature(x: float, **properties: Any) -> dict[str, Any]:
    ring = [[x, 0], [x + 1, 0], [x + 1, 1], [x, 1], [x, 0]]
    return {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "properties": properties,
    }


@pytest.fixture(autouse=True)
def shapes(api: TestClient) -> Iterator[None]:
    for number in range(3):
        answer = api.put(f"/v1/layers/zones/shapes/s{number}", json=feature(number, high=number, radius=number))
        assert answer.status_code == 200, answer.text
    yield
    for one in api.get("/v1/queries", params={"layer": "zones"}).json()["queries"]:
        assert api.delete(f"/v1/queries/{one['id']}").status_code == 200
    for number in range(3):
        api.delete(f"/v1/layers/zones/shapes/s{number}")


WHERE = "ST_Contains(zones.geometry, ST_Point(d, d)) AND n < zones.high"


def body(resting: Resting, **more: Any) -> dict[str, Any]:
    join = {"layer": "zones", **more.pop("join", {})}
    return {"id": "over", "join": join, "where": WHERE, "stream": resting.stream("json"), **more}


def test_a_join_is_registered_shown_listed_and_changed(api: TestClient, resting: Resting) -> None:
    made = api.post("/v1/queries", json=body(resting, labels={"of": "joins"}))
    assert made.status_code == 201, made.text
    assert made.json()["query"]["join"] == {"layer": "zones", "per_shape": False}
    assert made.json()["query"]["topic"] == "asc.over"
    assert api.post("/v1/queries", json=body(resting, labels={"of": "joins"})).json()["change"] == "unchanged"
    assert api.post("/v1/queries", json=body(resting), headers={"If-None-Match": "*"}).status_code == 412
    shown = api.get("/v1/queries/over").json()
    assert (shown["shapes"], shown["excluded_shapes"], shown["delivered"], shown["served"]) == (3, 0, 0, True)
    assert api.get("/v1/queries/over/excluded-shapes").json() == {"shapes": []}
    # What was answered can be sent again.
    assert api.put("/v1/queries/over", json=shown).json()["change"] == "unchanged"
    paused = api.put("/v1/queries/over", json={"paused": True}).json()["query"]
    assert (paused["join"], paused["paused"]) == ({"layer": "zones", "per_shape": False}, True)
    assert api.get("/v1/queries/over").json()["shapes"] is None
    pairs = api.put("/v1/queries/over", json={"paused": False, "join": {"layer": "zones", "per_shape": True}}).json()
    assert pairs["query"]["join"]["per_shape"] is True
    api.post("/v1/queries", json={"id": "plain", "where": "n > 3", "stream": resting.stream("json")})
    assert api.post("/v1/queries", json=body(resting, id="over2")).status_code == 201
    first = api.get("/v1/queries", params={"layer": "zones", "limit": 1}).json()
    assert [one["id"] for one in first["queries"]] == ["over"]
    rest = api.get("/v1/queries", params={"layer": "zones", "cursor": first["cursor"]}).json()
    assert ([one["id"] for one in rest["queries"]], rest["cursor"]) == (["over2"], None)
    plain = api.get("/v1/queries/plain").json()
    assert (plain["join"], plain["shapes"]) == (None, None)
    (listed,) = api.get("/v1/queries", params={"prefix": "over2"}).json()["queries"]
    assert listed["shapes"] == 3
    assert api.get("/v1/queries/plain/excluded-shapes").status_code == 404
    assert api.delete("/v1/queries/over").status_code == 200
    assert api.get("/v1/queries/over/excluded-shapes").status_code == 404
    api.delete("/v1/queries/plain")


def test_a_join_may_be_a_line_of_a_load(api: TestClient, resting: Resting) -> None:
    line = {"id": "loaded", "where": WHERE, "stream": resting.stream("json"), "join": {"layer": "zones"}}
    headers = {"content-type": "application/x-ndjson"}
    answer = api.post("/v1/queries", content=json.dumps(line).encode(), headers=headers)
    assert answer.json()["registered"] == 1, answer.text
    assert api.get("/v1/queries/loaded").json()["shapes"] == 3


def test_a_join_that_would_take_too_long_is_refused_and_one_that_stands_goes_on(
    api: TestClient, resting: Resting, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert api.post("/v1/queries", json=body(resting)).status_code == 201
    monkeypatch.setattr("asc.predicate.normal_form.join_predicate.JoinPredicate.effort", lambda join, rows: 3_000_000)
    check = {"stream": resting.stream("json"), "where": WHERE, "join": {"layer": "zones"}}
    for answer in (
        api.post("/v1/check", json=check),
        api.post("/v1/queries", json={**body(resting), "id": "other"}),
        api.put("/v1/queries/over", json={"where": f"{WHERE} AND n > 3"}),
    ):
        assert answer.status_code == 400, answer.text
        assert "join of 3 shapes, about 3,000,000 operators" in answer.json()["error"]["message"]
    assert api.put("/v1/queries/over", json={"labels": {"of": "joins"}}).status_code == 200
    assert api.get("/v1/queries/over").json()["shapes"] == 3
    assert api.put("/v1/layers/zones/shapes/s1", json=feature(1, high=7)).status_code == 200
    assert api.get("/v1/queries/over").json()["shapes"] == 3
    # While it is paused its layer may have grown.
    assert api.put("/v1/queries/over", json={"paused": True}).status_code == 200
    assert api.put("/v1/queries/over", json={"labels": {"of": "more"}}).status_code == 200
    resumed = api.put("/v1/queries/over", json={"paused": False})
    assert resumed.status_code == 400
    assert "join of 3 shapes, about 3,000,000 operators" in resumed.json()["error"]["message"]
    assert api.get("/v1/queries/over").json()["paused"] is True
    monkeypatch.undo()
    assert api.put("/v1/queries/over", json={"paused": False}).status_code == 200


def test_rows_that_would_take_a_join_too_long_are_not_written(
    api: TestClient, resting: Resting, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyser = resting.streams()[resting.stream("json")].analyser
    monkeypatch.setattr(analyser, "_limits", replace(analyser._limits, join_nodes=100))
    assert api.post("/v1/queries", json=body(resting)).status_code == 201
    lines = b"\n".join(json.dumps({**feature(n, high=n), "id": f"s{n}"}).encode() for n in range(10))
    headers = {"content-type": "application/x-ndjson"}
    before = api.get("/v1/layers/zones").json()["offsets"]
    for query in ({}, {"keep_going": True}, {"dry_run": True}):
        refused = api.post("/v1/layers/zones/shapes", content=lines, headers=headers, params=query)
        assert refused.status_code == 400, refused.text
        said = refused.json()["error"]["message"]
        assert said.startswith("rows for join 'over': nothing was written: join of 10 shapes, about ")
        assert said.endswith("or raise limits.join_nodes; or write fewer rows at a time, or pause it")
    assert api.get("/v1/layers/zones").json()["offsets"] == before
    # Fewer at a time are put, whatever the layer becomes by that, and all of them where no plan holds the join.
    assert api.put("/v1/layers/zones/shapes/s3", json=feature(3, high=3)).status_code == 200
    assert api.get("/v1/queries/over").json()["shapes"] == 4
    assert api.put("/v1/queries/over", json={"paused": True}).status_code == 200
    assert api.post("/v1/layers/zones/shapes", content=lines, headers=headers).status_code == 200
    for number in range(3, 10):
        assert api.delete(f"/v1/layers/zones/shapes/s{number}").status_code == 200


def test_excluded_shapes_are_named(api: TestClient, resting: Resting) -> None:
    where = "ST_DWithin(zones.geometry, ST_Point(d, d), zones.radius)"
    assert api.post("/v1/queries", json=body(resting, id="near", where=where)).status_code == 201
    assert api.put("/v1/layers/zones/shapes/s1", json=feature(1, radius=-1)).status_code == 200
    shown = api.get("/v1/queries/near").json()
    assert (shown["shapes"], shown["excluded_shapes"]) == (2, 1)
    (refusal,) = api.get("/v1/queries/near/excluded-shapes").json()["shapes"]
    assert refusal["id"] == "s1"
    assert refusal["reason"].startswith("distance")
    refused = api.post("/v1/queries", json=body(resting, id="near2", where=where))
    assert refused.status_code == 400
    assert "of shape zones/s1: distance" in refused.json()["error"]["message"]
    assert refused.json()["error"]["caret"]
    checked = api.post("/v1/check", json={"stream": resting.stream("json"), "where": where, "join": {"layer": "zones"}})
    assert "of shape zones/s1: distance" in checked.json()["error"]["message"]


def test_a_property_that_does_not_fit_is_refused(api: TestClient) -> None:
    refused = api.put("/v1/layers/zones/shapes/s1", json=feature(1, high="tall"))
    assert refused.status_code == 400
    assert "property high 'tall': is none of its type, int32" in refused.text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"join": {"layer": "nowhere"}}, "unknown layer 'nowhere'"),
        ({"where": "n < zones.hihg"}, "unknown property"),
        ({"where": "n < 3"}, "asks nothing of the layer"),
        ({"join": {"layer": None}}, "field join.layer"),
        ({"join": {"per_shape": "yes"}}, "field join.per_shape"),
        ({"join": {"per_shap": True}}, "did you mean 'per_shape'?"),
        ({"id": "a/b"}, "query id 'a/b'"),
    ],
)
def test_what_is_refused_in_one_line(change: dict[str, Any], said: str, api: TestClient, resting: Resting) -> None:
    refused = api.post("/v1/queries", json=body(resting, **change))
    assert refused.status_code == 400
    message = refused.json()["error"]["message"]
    assert said in message
    assert "\n" not in message


def test_a_join_is_explained_and_traced_for_a_shape(api: TestClient, resting: Resting) -> None:
    where = "ST_Covers(zones.geometry, ST_Point(d, n / 2)) AND length(s) + zones.high > 3"
    assert api.post("/v1/queries", json=body(resting, where=where)).status_code == 201
    refused = api.post("/v1/queries/over/explain", json={})
    assert refused.status_code == 400
    assert "is a join, of which plans hold a query a shape" in refused.json()["error"]["message"]
    for n, s, accepted in ((1, "ab", True), (1, "a", False), (3, "ab", False)):
        values = {"d": 2.5, "n": n, "s": s}
        found = api.post("/v1/queries/over/s2/explain", json={"tuple": values})
        assert found.json()["accepted"] is accepted, found.text
        traced = api.post("/v1/trace", json={"tuple": values, "query": "over/s2"}).json()
        assert traced["verdict"]["accepted"] is accepted
    assert api.post("/v1/queries/over/s2/explain", json={}).json()["query"]["id"] == "over"
    trace = api.post("/v1/trace", json={"tuple": {"n": 1}, "stream": resting.stream("json")}).json()["trace"]
    assert 0 < trace["join_shapes"] <= trace["queries"]
    for query_id, said in (("over/none", "shape 'zones/none'"), ("nothing/s2", "unknown query 'nothing/s2'")):
        missing = api.post(f"/v1/queries/{query_id}/explain", json={"tuple": {"d": 1.0}})
        assert missing.status_code == 404, missing.text
        assert said in missing.text


def test_joins_are_seen_within_a_scope(resting: Resting, api: TestClient) -> None:
    api.post("/v1/queries", json=body(resting, id="own.over"))
    api.post("/v1/queries", json=body(resting, id="other.over"))
    scope = Scope("t", id_prefix="own.", columns=frozenset({("n",)}))
    permitted = resting.within(scope)
    assert [query.id for query in permitted.page("", None, None, None, 10, layer="zones")[0]] == ["own.over"]
    with pytest.raises(UnknownQueryError):
        resting.within(Scope("t", streams=frozenset())).get("own.over")
    query = resting.registrar().standing.get("own.over")
    with pytest.raises(ForbiddenError, match="column 'd'"):
        permitted.apply([Put(query)], "register").raised()
