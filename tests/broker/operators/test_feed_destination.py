"""Destinations of the feed in plans: their tracks, their selections, and the topics that are none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from asc.operators.feed import QuerySettings
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.operators.feed_destination import (
    FeedDestination,
    Track,
    destinations_in,
    routed_topics,
    selection_of,
    selection_of_join,
)

TRACK = Track(
    *("5f1d", "near", "CAST(k AS STRING)", "unix_micros(t)", ("x", "y"), (("é", "alt"), ("t", "unix_micros(t)"))),
    observes_all=False,
    by_key=False,
)
QUERY = QuerySettings("close", "out", TRACK.name, TRACK.time_name, ("a41c",), {"distance_m": 5.5, "on": "a.é < b.é"})
SCHEMA = Schema.from_ddl("n INT, m INT, s STRING, b BINARY")


@pytest.mark.parametrize(
    "destination", [FeedDestination(TRACK, QUERY), FeedDestination(replace(TRACK, carried=None, position=()), QUERY)]
)
def test_a_destination_has_all_that_its_kind_needs(destination: FeedDestination) -> None:
    own = destination.in_plan()
    assert FeedDestination.of(own) == destination
    assert (own.name, own.op, own.form, own.target, own.selection) == ("close", "near", 2, "5f1d", "a41c")


def test_a_plan_has_each_destination_once_and_its_topics_apart() -> None:
    def query(query_id: str, topic: str, destination: FeedDestination | None = None) -> Query:
        return Query(
            query_id, normalise("n > 1", SCHEMA), topic, None if destination is None else destination.in_plan()
        )

    close = FeedDestination(TRACK, QUERY)
    far = FeedDestination(TRACK, replace(QUERY, id="far", topic="fars"))
    plan = compile_plan([query("a", "t1"), query("close/1", "out", close), query("close/2", "out", close)])
    assert destinations_in(plan) == [close]
    assert routed_topics(plan) == {"t1"}
    plan = change_plan(plan, [query("far", "fars", far), query("z", "fars")], ["close/1"])
    assert sorted(destinations_in(plan), key=lambda each: each.query.id) == [close, far]
    assert routed_topics(plan) == {"t1", "fars"}
    assert destinations_in(change_plan(plan, (), ["close/2", "far"])) == []


def test_predicates_with_one_normal_form_are_one_selection() -> None:
    def name(where: str) -> str:
        return selection_of(normalise(where, SCHEMA))

    assert name("n > 1 AND m < 2") == name("m < 2 AND NOT (n <= 1)") == name("(m < 2) AND n >= 2 OR (n > 1 AND m < 2)")
    others = ["n > 1", "n >= 1", "m > 1", "n > 1 OR m < 2", "true", "false", "s LIKE '%a%'", "s LIKE '%b%'", "s = 'a'"]
    assert len({name(where) for where in (*others, "b = X'61'", "n > 1 OR n IS NULL", "length(s) > 1")}) == 12
    assert len(name("true")) == 16


def test_joins_with_one_text_over_one_layer_are_one_selection() -> None:
    names = [selection_of_join(*own) for own in (("n > 1", "a"), ("n > 2", "a"), ("n > 1", "b"))]
    assert len(set(names)) == 3
    assert selection_of_join("n > 1", "a") == names[0]


def test_tracks_with_one_time_share_its_name() -> None:
    other = replace(TRACK, name="77aa", key="other", position=())
    assert other.time_name == TRACK.time_name != replace(TRACK, time_us="unix_micros(u)").time_name
