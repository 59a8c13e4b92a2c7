"""Blocks of a running plan over the API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from broker.access.scope import Scope
from broker.errors import ForbiddenError
from broker.http.blocks import described_block
from broker.http.bulk import load_lines
from broker.queries.change import Remove

if TYPE_CHECKING:
    from conftest import Resting
    from fastapi.testclient import TestClient

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def test_constructs_regions_and_sequence(api: TestClient, resting: Resting) -> None:
    stream = resting.stream("json")
    # What others left there could bound the regions.
    there = [query.id for query in resting.registrar().standing.queries.values() if query.stream == stream]
    resting.registrar().apply([Remove(query_id) for query_id in there])
    line = json.dumps({"id": "in-block", "where": "n > 4711 AND lower(s) = 'x'", "stream": stream}).encode()
    load_lines(resting.permitted, line, keep_going=False)
    plan = api.get("/v1/plan").json()["streams"][stream]
    found = api.get(f"/v1/plan/{stream}/blocks/0").json()
    assert (found["stream"], found["version"], found["number"]) == (stream, plan["version"], 0)
    assert found["blocks"] == len(plan["blocks"])
    assert found["conjuncts"] == plan["blocks"][0]["conjuncts"]
    names = [construct["attribute"] for construct in found["constructs"]]
    assert [names[place] for place in found["sequence"]] == plan["blocks"][0]["sequence"]
    (own,) = (construct for construct in found["constructs"] if construct["attribute"] == "n")
    assert (own["type"], own["spark"], own["constrained"] >= 1) == ("int32", False, True)
    texts = [region["text"] for region in own["regions"]]
    assert "n = 4711" in texts
    assert all(0 <= region["constrained"] <= region["satisfied"] <= found["conjuncts"] for region in own["regions"])
    assert found["monitor"] is None


def test_a_block_that_is_not_there(api: TestClient, resting: Resting) -> None:
    for number in (-1, 10_000):
        answer = api.get(f"/v1/plan/{resting.stream('json')}/blocks/{number}")
        assert answer.status_code == 404
        assert f"block {number}: is not in the plan of stream" in answer.json()["error"]["message"]
    assert api.get("/v1/plan/nowhere/blocks/0").status_code == 400
    assert api.get(f"/v1/plan/{resting.stream('json')}/blocks/first").status_code == 400


def test_whoever_does_not_see_all_queries_sees_no_block(resting: Resting) -> None:
    permitted = resting.within(Scope("own", id_prefix="own-"))
    stream = resting.streams()[resting.stream("json")]
    with pytest.raises(ForbiddenError, match=r"block of a plan.*token 'own' does not see"):
        described_block(permitted, stream, 0)
