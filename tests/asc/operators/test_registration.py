"""Registrations of queries: what a part applies where a query came again under its id."""

from __future__ import annotations

from dataclasses import replace

from asc.operators.feed import QuerySettings, Settings
from asc.operators.registration import in_turn, with_since


def query(query_id: str, since: int = -1) -> QuerySettings:
    return QuerySettings(query_id, "topic", "t", "e", ("s",), with_since({"n": 1}, since))


def standing(*queries: QuerySettings, limit: int = 9) -> Settings:
    return Settings("events", "flights", False, limit, queries)


def turns(before: Settings, after: Settings) -> list[list[str]]:
    found = list(in_turn(before, after))
    assert found[-1] == after
    assert all(replace(each, queries=after.queries) == after for each in found)
    return [[own.id for own in each.queries] for each in found]


def test_where_a_query_is_of_another_registration_those_that_continue_come_first() -> None:
    before = standing(query("a", 3), query("b", 3), query("gone", 3))
    assert turns(before, standing(query("a", 9), query("b", 3), query("new", 9))) == [["b"], ["a", "b", "new"]]
    assert turns(before, standing(query("a", 9), query("b", 9), limit=2)) == [[], ["a", "b"]]


def test_queries_of_the_same_or_of_no_known_registration_continue() -> None:
    before = standing(query("a", 3), query("b"))
    after = standing(replace(query("a", 3), topic="other"), query("b", 9))
    assert turns(before, after) == [["a", "b"]]
    assert turns(after, before) == [["a", "b"]]
    assert turns(standing(), after) == [["a", "b"]]
    assert "since" not in query("a").definition
