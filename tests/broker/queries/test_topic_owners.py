"""Topics of one query alone: no query beside a cube, and no cube beside a query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from broker.errors import QueryError
from broker.operators.kinds import definition_of
from broker.queries.change import Change, Put, Remove
from broker.queries.query import RegisteredQuery

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

CUBE = {"name": "cube", "measures": ["count(*) AS c"], "grain_s": 60}


@pytest.fixture(autouse=True)
def nothing_is_left(resting: Resting) -> Iterator[None]:
    yield
    left = [query.id for query in resting.registrar().standing if query.id.startswith("owner-")]
    resting.registrar().apply([Remove(query_id) for query_id in left]).raised()


def put(resting: Resting, query_id: str, topic: str, *, cube: bool = False, kind: str = "json", **more: Any) -> Put:
    operator = definition_of(CUBE) if cube else None
    return Put(RegisteredQuery(f"owner-{query_id}", resting.stream(kind), "n > 1", topic, operator=operator, **more))


def refused(resting: Resting, *changes: Change) -> list[str]:
    outcome = resting.registrar().apply(changes)
    assert all(isinstance(error, QueryError) for error in outcome.refused.values())
    return [str(error) for error in outcome.refused.values()]


def test_a_topic_of_a_cube_is_of_no_other_query(resting: Resting) -> None:
    said = "destination topic 'owned': belongs to one query alone: choose another"
    resting.registrar().apply([put(resting, "cube", "owned", cube=True)]).raised()
    assert refused(resting, put(resting, "route", "owned")) == [said]
    assert refused(resting, put(resting, "csv", "owned", kind="csv")) == [said]
    assert refused(resting, put(resting, "other", "owned", cube=True)) == [said]
    # It stays its own while it is paused; it may be changed, and another one have the topic then.
    resting.registrar().apply([put(resting, "cube", "owned", cube=True, paused=True)]).raised()
    assert refused(resting, put(resting, "route", "owned")) == [said]
    resting.registrar().apply([put(resting, "cube", "owned-2", cube=True)]).raised()
    resting.registrar().apply([put(resting, "other", "owned", cube=True)]).raised()


def test_a_cube_gets_no_topic_of_another_query(resting: Resting) -> None:
    said = "is that of another query, and this one is to have a topic of its own: choose another"
    resting.registrar().apply([put(resting, "route", "routed", paused=True)]).raised()
    assert refused(resting, put(resting, "cube", "routed", cube=True)) == [f"destination topic 'routed': {said}"]
    resting.registrar().apply([put(resting, "cube", "owned-3", cube=True)]).raised()
    assert refused(resting, put(resting, "cube", "routed", cube=True)) == [f"destination topic 'routed': {said}"]
    # A query that becomes a cube has its topic to itself.
    resting.registrar().apply([put(resting, "route", "routed", cube=True)]).raised()


def test_of_two_in_one_change_the_first_has_the_topic(resting: Resting) -> None:
    both = put(resting, "first", "owned-4", cube=True), put(resting, "second", "owned-4")
    assert len(refused(resting, *both)) == 1
    assert len(refused(resting, *reversed(both))) == 1


def test_an_owner_keeps_its_topic_whatever_comes_before_it(resting: Resting) -> None:
    resting.registrar().apply([put(resting, "keeper", "owned-5", cube=True)]).raised()
    changed = put(resting, "keeper", "owned-5", cube=True, labels={"team": "a"})
    outcome = resting.registrar().apply([put(resting, "taker", "owned-5"), changed], keep_going=True)
    assert list(outcome.refused) == [0]
    assert list(outcome.registered) == [1]


def test_the_topic_of_a_cube_may_be_compacted_and_that_of_a_route_not(resting: Resting) -> None:
    topic = f"compacted-{resting.stream('json')}"
    resting.cluster.ensure_topics([topic], {"cleanup.policy": "compact"})
    (error,) = refused(resting, put(resting, "route", topic))
    assert "is compacted" in error
    assert refused(resting, put(resting, "cube", topic, cube=True)) == []
