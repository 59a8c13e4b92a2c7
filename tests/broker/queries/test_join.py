"""What makes a query a join, in records of the registry."""

from __future__ import annotations

import json
from typing import Any

import pytest

from broker.queries.join import Join
from broker.queries.query import RegisteredQuery


@pytest.mark.parametrize("join", [Join("zones"), Join("north sea", per_shape=True)])
def test_a_join_is_read_back_from_its_record(join: Join) -> None:
    query = RegisteredQuery("over", "flights", "n < zones.high", "out", join=join)
    assert RegisteredQuery.from_record("over", query.record(), 7) == query.at(7)
    assert query.at(7).join == join
    assert query.at(7) != RegisteredQuery("over", "flights", "n < zones.high", "out", version=7)


@pytest.mark.parametrize("per_shape", [False, True])
def test_a_record_that_says_pairs_is_read_and_written_as_per_shape(per_shape: bool) -> None:
    stored = {"v": 2, "id": "over", "stream": "flights", "where": "n < zones.high", "topic": "out", "labels": {}}
    stored |= {"paused": False, "expires_at": None, "join": {"layer": "zones", "pairs": per_shape}}
    query = RegisteredQuery.from_record("over", json.dumps(stored).encode(), 7)
    assert (query.unreadable, query.join) == (None, Join("zones", per_shape=per_shape))
    written = json.loads(query.record())
    assert written == {**stored, "join": {"layer": "zones", "per_shape": per_shape}}


def test_a_query_that_is_none_is_written_as_before_there_were_joins() -> None:
    record = json.loads(RegisteredQuery("late", "flights", "n > 1", "out").record())
    assert set(record) == {"v", "id", "stream", "where", "topic", "labels", "paused", "expires_at"}


@pytest.mark.parametrize("given", ["zones", {}, {"layer": 3}, {"layer": "zones", "per_shape": "yes"}, []])
def test_what_is_none_leaves_the_query_unreadable(given: Any) -> None:
    record = json.dumps({"stream": "flights", "where": "n > 1", "join": given}).encode()
    found = RegisteredQuery.from_record("over", record, 7)
    assert found.unreadable is not None
    assert "join" in found.unreadable
