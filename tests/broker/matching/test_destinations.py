"""Names under which matches leave the workers: topics, and of operators targets with selections."""

from __future__ import annotations

from asc.plan.compiler import compile_plan
from asc.plan.destination import Destination
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.matching.destinations import Destinations

SCHEMA = Schema.from_ddl("n INT")
FAR = Destination("far", "near", 2, "t2", "s9", "{}")
LOW = Destination("low", "events", 2, "t1", "s3", "{}")


def plan_of(*queries: tuple[str, str, Destination | None]) -> Plan:
    predicate = normalise("n > 1", SCHEMA)
    return compile_plan([Query(query_id, predicate, topic, own) for query_id, topic, own in queries])


def test_topics_are_as_they_are() -> None:
    found = Destinations.of(plan_of(("a", "u", None), ("b", "t", None), ("c", "u", None)))
    assert [found.names[int(place)].as_py() for place in found.of_query] == ["u", "t", "u"]
    assert found.operated is None


def test_queries_with_an_operator_have_a_target_and_a_selection() -> None:
    plan = plan_of(("a", "u", None), ("far", "t", FAR), ("low/x", "t", LOW), ("low/y", "t", LOW))
    operated = Destinations.of(plan).operated
    assert operated is not None
    assert operated.is_operated.tolist() == [False, True, True, True]
    targets = [operated.targets[int(place)].as_py() for place in operated.target_of[1:]]
    assert targets == ["t2", "t1", "t1"]
    # Members of a join have their shape beside the selection.
    assert [operated.selections[int(place)].as_py() for place in operated.selection_of[1:]] == ["s9", "s3/x", "s3/y"]
