"""Near queries as bodies of the API: registered, listed by operator, sent back as answered, refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.testclient import TestClient

from broker.access.access import Access
from broker.access.audit import Audit
from broker.access.scope import Scope
from broker.config.sections import ApiConfig
from broker.errors import ForbiddenError
from broker.http.app import create_app
from broker.http.models import QueryBody, new_query
from broker.operators.kinds import OPERATORS, ROUTE, definition_of, settable
from broker.operators.near.body import NearBody
from broker.operators.near.definition import NearDefinition
from broker.queries.change import Put

if TYPE_CHECKING:
    from conftest import Resting

LEAST = {"name": "near", "key": "n", "distance_m": 500, "window_s": 30, "every_s": 10}


def test_the_defaults_and_bounds_of_the_body_are_those_of_the_definition() -> None:
    plain = NearBody.model_validate(LEAST).model_dump()
    assert definition_of(settable(plain)) == NearDefinition.parse(LEAST)
    assert plain == {**NearDefinition.parse(LEAST).plain(), "summary": None}
    for bound in ({"distance_m": 0, "window_s": 0.001, "every_s": 0.1}, {"window_s": 86_400, "every_s": 86_400}):
        assert definition_of(settable(NearBody.model_validate({**LEAST, **bound}).model_dump()))


@pytest.fixture
def api(resting: Resting) -> Iterator[TestClient]:
    app = create_app(resting, Access(), ApiConfig(requests_per_s=1e6), Audit())
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client
        for one in client.get("/v1/queries?prefix=close").json()["queries"]:
            assert client.delete(f"/v1/queries/{one['id']}").status_code == 200


def body(resting: Resting, query_id: str = "close", **more: Any) -> dict[str, Any]:
    operator = {**LEAST, "position": "ST_Point(d, d)", **more}
    return {"id": query_id, "where": "true", "stream": resting.stream("json"), "operator": operator}


@pytest.mark.kafka
@pytest.mark.spark
def test_a_near_query_is_registered_listed_and_sent_back(api: TestClient, resting: Resting) -> None:
    made = api.post("/v1/queries", json=body(resting))
    assert made.status_code == 201, made.text
    own = made.json()["query"]
    assert own["operator"] == {
        "name": "near",
        "key": "n",
        "time": "_timestamp",
        "position": "ST_Point(d, d)",
        "distance_m": 500,
        "window_s": 30,
        "every_s": 10,
        "on": None,
        "events": ["pair"],
        "summary": "pair: within 500 m, every 10 s",
    }
    assert api.post("/v1/queries", json=body(resting), headers={"If-None-Match": "*"}).status_code == 412
    shown = api.get("/v1/queries/close").json()
    assert shown["operator"] == own["operator"]
    # An answer can be sent again, with what is computed in it.
    assert api.post("/v1/queries", json=shown).json()["change"] == "unchanged"
    assert api.put("/v1/queries/close", json=shown).json()["change"] == "unchanged"
    closer = {**body(resting, "closer", on="abs(a.n - b.n) < 3", events=["near"]), "labels": {"of": "near"}}
    assert api.post("/v1/queries", json=closer).status_code == 201
    routed = {"id": "close-routed", "where": "n > 1", "stream": own["stream"]}
    assert api.post("/v1/queries", json={**routed, "operator": {"name": "route"}}).json()["query"]["operator"] is None
    assert api.post("/v1/queries", json=routed).json()["change"] == "unchanged"

    def listed(**filters: Any) -> tuple[list[str], str | None]:
        page = api.get("/v1/queries", params={"prefix": "close", **filters}).json()
        return [one["id"] for one in page["queries"]], page["cursor"]

    assert listed(operator="near", limit=1) == (["close"], "close")
    assert listed(operator="near", cursor="close") == (["closer"], None)
    assert listed(operator="near", label="of=near") == (["closer"], None)
    assert listed(operator="route") == (["close-routed"], None)
    assert listed(operator="events") == ([], None)
    assert listed(operator="near", layer="zones") == ([], None)
    for name, said in (("operator", "operator 'no': is not known: known are route"), ("layer", "unknown layer 'no'")):
        refused = api.get("/v1/queries", params={name: "no"})
        assert (refused.status_code, refused.json()["error"]["message"][: len(said)]) == (400, said)


@pytest.mark.kafka
@pytest.mark.spark
def test_a_body_can_be_checked_before_it_is_registered(api: TestClient, resting: Resting) -> None:
    found = api.post("/v1/check", json=body(resting))
    assert found.status_code == 200, found.text
    assert [one["sql"] for one in found.json()["expressions"]][:1] == ["CAST(n AS STRING)"]
    assert found.json()["match_all"] is True
    for wrong, said in (
        (body(resting, key="nope"), "operator.key 'nope'"),
        ({**body(resting), "join": {"layer": "zones"}}, "operator 'near': is not for joins"),
        (body(resting, on="a.n"), "operator.on"),
    ):
        refused = api.post("/v1/check", json=wrong)
        assert (refused.status_code, refused.json()["error"]["message"][: len(said)]) == (400, said)
    assert api.get("/v1/queries/close").status_code == 404


@pytest.mark.kafka
@pytest.mark.spark
def test_who_may_not_read_a_column_cannot_compare_it(resting: Resting) -> None:
    own = resting.within(Scope("reader", columns=frozenset({("n",), ("d",), ("_timestamp",)})))
    for more in ({"on": "a.s = b.s"}, {"key": "s"}, {"position": "ST_Point(d, n / length(s))"}):
        query = new_query(QueryBody.model_validate(body(resting, **more)), resting.stream("json"))
        with pytest.raises(ForbiddenError, match="column 's'"):
            own.apply([Put(query, replaces=True)], "register").raised()


@pytest.mark.kafka
@pytest.mark.spark
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"distance_m": "far"}, "operator.distance_m 'far': give metres, from 0"),
        ({"distance_m": None}, "operator.distance_m: is missing: give metres"),
        ({"position": "d"}, "operator.position"),
        ({"on": "a.n"}, "operator.on"),
        ({"dwell_s": 3}, "field operator 'dwell_s': is not known: known are name, key, time"),
        ({"distance": 3}, "field operator 'distance': is not known"),
        ({"events": "near"}, "operator.events 'near': give a list of some of pair, near, apart"),
        ({"name": "later"}, f"operator 'later': is not known: known are {', '.join((ROUTE, *OPERATORS))}"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(api: TestClient, resting: Resting, more: dict[str, Any], said: str) -> None:
    answer = api.post("/v1/queries", json=body(resting, **more))
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(said)
