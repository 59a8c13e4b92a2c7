"""Near queries over HTTP: registered, listed, changed as queries are; what is refused, and to whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from broker.access.scope import Scope
from broker.errors import ForbiddenError
from broker.http.models import new_query
from broker.http.near import NearQueryBody
from broker.queries.change import Put

if TYPE_CHECKING:
    from conftest import Resting
    from fastapi.testclient import TestClient

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


@pytest.fixture(autouse=True)
def cleared(api: TestClient) -> Iterator[None]:
    yield
    for one in api.get("/v1/near").json()["queries"]:
        assert api.delete(f"/v1/queries/{one['id']}").status_code == 200


def body(resting: Resting, **more: Any) -> dict[str, Any]:
    own = {"id": "close", "key": "n", "position": "ST_Point(d, d)", "distance_m": 500, "window_s": 30, "every_s": 10}
    return {**own, "stream": resting.stream("json"), **more}


def test_a_near_query_is_registered_shown_listed_and_changed(api: TestClient, resting: Resting) -> None:
    made = api.post("/v1/near", json=body(resting, labels={"of": "near"}))
    assert made.status_code == 201, made.text
    own = made.json()["query"]
    assert (own["where"], own["topic"], own["join"]) == ("true", "asc.close", None)
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
    }
    assert api.post("/v1/near", json=body(resting, labels={"of": "near"})).json()["change"] == "unchanged"
    assert api.post("/v1/near", json=body(resting), headers={"If-None-Match": "*"}).status_code == 412
    assert api.get("/v1/queries/close").json()["operator"] == own["operator"]
    # What was answered can be sent again.
    assert api.post("/v1/queries", json=own).json()["change"] == "unchanged"
    more = body(resting, id="closer", on="abs(a.n - b.n) < 3", events=["near"], where="n > 1", paused=True)
    assert api.post("/v1/near", json=more).status_code == 201
    page = api.get("/v1/near", params={"limit": 1}).json()
    assert ([one["id"] for one in page["queries"]], page["cursor"]) == (["close"], "close")
    page = api.get("/v1/near", params={"cursor": "close"}).json()
    assert ([one["id"] for one in page["queries"]], page["cursor"]) == (["closer"], None)
    # A query with events is none, nor is one that is routed.
    events = {"id": "events", "where": "n > 1", "stream": own["stream"], "operator": {"name": "events", "key": "n"}}
    assert api.post("/v1/queries", json=events).status_code == 201
    assert len(api.get("/v1/near").json()["queries"]) == 2
    assert api.delete("/v1/queries/events").status_code == 200
    assert api.get("/v1/plan").json()["streams"][own["stream"]]["pairs"] is None


def test_who_may_not_read_a_column_cannot_compare_it(resting: Resting) -> None:
    own = resting.within(Scope("reader", columns=frozenset({("n",), ("d",), ("_timestamp",)})))
    for more in ({"on": "a.s = b.s"}, {"key": "s"}, {"position": "ST_Point(d, n / length(s))"}):
        query = new_query(NearQueryBody(**body(resting, **more)).query(), resting.stream("json"))
        with pytest.raises(ForbiddenError, match="column 's'"):
            own.apply([Put(query, replaces=True)], "register").raised()
    query = new_query(NearQueryBody(**body(resting, on="a.n < b.n")).query(), resting.stream("json"))
    assert own.apply([Put(query, replaces=True)], "register").raised().registered


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"distance_m": "far"}, "operator.distance_m"),
        ({"distance_m": None}, "operator.distance_m"),
        ({"position": "d"}, "operator.position"),
        ({"on": "a.n"}, "operator.on"),
        ({"operator": {}}, "unknown field"),
        ({"events": "near"}, "events"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(api: TestClient, resting: Resting, more: dict[str, Any], said: str) -> None:
    answer = api.post("/v1/near", json=body(resting, **more))
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]
