"""Status of operators: of the kinds that a stream uses, whatever their readers have done."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from asc.operators.feed import QuerySettings
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.operators.feed_destination import FeedDestination, Track
from broker.operators.feed_task import FeedTally
from broker.stream.operator_status import OperatorStatus, PlanDestinations, operator_statuses

if TYPE_CHECKING:
    from broker.operators.stateful_query import StatefulQuery

TRACK = Track("7f", "events", "k", "unix_micros(ts)", (), None, observes_all=True, by_key=True)
LOW = FeedDestination(TRACK, QuerySettings("low", "lows", TRACK.name, TRACK.time_name, ("a41c",), {}))


@dataclass
class Reader:
    """As far as the status looks at a reader of the feed."""

    tally: FeedTally | None = None
    held: int | None = None
    failures: int = 0
    problem: str | None = None


def statuses(destinations: list[FeedDestination], **readers: Reader) -> dict[str, OperatorStatus]:
    own = cast("dict[str, StatefulQuery]", readers)
    return operator_statuses(destinations, own, dict.fromkeys(readers, 4), {TRACK.time_name: 9_000_000}, 2_000_000)


def test_kinds_that_are_not_used_have_none() -> None:
    assert statuses([], events=Reader(), near=Reader()) == {}


def test_a_kind_with_queries_or_a_started_reader_has_one() -> None:
    none = OperatorStatus(1, None, 0, {}, {}, {"unix_micros(ts)": 7_000_000}, 4, 0, None)
    assert statuses([LOW], events=Reader(), near=Reader()) == {"events": none}
    tally = FeedTally({0: 2, 7: 1}, 7, {"key": 4}, {"pair": 3})
    found = statuses([LOW], events=Reader(), near=Reader(tally, 3, 2, "stopped"))
    assert found["near"] == OperatorStatus(0, 3, 7, {"pair": 3}, {"key": 4}, {}, 4, 2, "stopped")


def test_the_destinations_of_a_plan_are_read_once() -> None:
    predicate = normalise("n > 1", Schema.from_ddl("n INT"))
    plan = compile_plan([Query("low", predicate, "lows", LOW.in_plan()), Query("r", predicate, "t")])
    read = PlanDestinations()
    first, topics = read.of(plan), read.topics(plan, "events")
    assert first == [LOW]
    assert topics == {"lows"}
    assert read.of(plan) is first
    assert read.topics(plan, "events") is topics
    assert read.topics(plan, "near") is read.topics(plan, "near")
    assert read.topics(plan, "near") == frozenset()
    other = replace(LOW, query=replace(LOW.query, topic="others"))
    assert read.of(compile_plan([Query("low", predicate, "others", other.in_plan())])) == [other]
