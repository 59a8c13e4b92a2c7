"""Destinations of a plan: topics as they are, and what operators have in place of one cut where it begins."""

from __future__ import annotations

from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.matching.destinations import Destinations
from broker.matching.matches_text import BEFORE_OPERATOR


def plan_of(topics: list[str]) -> Plan:
    schema = Schema.from_ddl("n INT")
    return compile_plan([Query(f"q{i}", normalise(f"n > {i}", schema), topic) for i, topic in enumerate(topics)])


def names(plan: Plan) -> list[str]:
    found = Destinations.of(plan)
    return [found.names[int(place)].as_py() for place in found.of_query]


def test_topics_are_as_they_are() -> None:
    plan = plan_of(["b", "a", "b"])
    assert names(plan) == ["b", "a", "b"]
    assert Destinations.of(plan).is_operators is None


def test_what_is_for_an_operator_is_cut_and_shared() -> None:
    feed = f"feed/1{BEFORE_OPERATOR}"
    plan = plan_of([f"{feed}[1]", "topic", f"{feed}[2\n]"])
    found = Destinations.of(plan)
    assert names(plan) == [feed, "topic", feed]
    assert len(found.names) == 2
    assert found.is_operators is not None
    assert [bool(found.is_operators[int(place)]) for place in found.of_query] == [True, False, True]
