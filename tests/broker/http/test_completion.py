"""A sample completes a definition for a caller who may see its columns, and only if nothing registered does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from asc.operators.cube.binned import bins_of
from broker.access.scope import Scope, unlimited
from broker.errors import ForbiddenError
from broker.http.completion import completed_by_sample
from broker.operators.cube.definition import StandingCube
from broker.operators.events.definition import EventsDefinition
from broker.queries.completion import completed
from broker.queries.query import RegisteredQuery
from broker.stream.stream import Stream

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

PLAIN: dict[str, Any] = {"name": "cube", "dimensions": [["bins(d, 4)"]], "measures": ["count(*)"], "grain_s": 3_600}
QUERY = RegisteredQuery("air", "", "n >= 0", "asc.air", operator=StandingCube.parse(PLAIN))


@pytest.fixture(scope="module")
def stream(resting: Resting, send_to: Callable[..., str]) -> Stream:
    """The JSON stream with 80 numbers from 0 to 7, of which WHERE accepts those below 4."""
    name = resting.stream("json")
    found = resting.streams()[name]
    found.recent._held = None
    for place in range(80):
        number = place % 8
        send_to(resting.config.streams[name].topic, json.dumps({"n": 3 - number, "d": number}).encode())
    return found


def edges_of(query: RegisteredQuery) -> tuple[float, ...]:
    """Return the edges of the only bins of a query."""
    assert isinstance(query.operator, StandingCube)
    (own,) = bins_of(query.operator.cube)
    return tuple(own.checked_edges.plain())


def test_the_accepted_records_decide_unless_the_registered_query_does(stream: Stream) -> None:
    query = replace(QUERY, stream=stream.name)
    first = completed(query, None, stream, {}, scope=unlimited("test"))
    assert edges_of(first) == (0.5, 2.0, 2.5)
    given = StandingCube.parse({**PLAIN, "dimensions": [["bins(d, 4, [7, 8, 9])"]]})
    assert isinstance(given, StandingCube)
    assert edges_of(completed(query, replace(query, operator=given), stream, {}, scope=unlimited("test"))) == (7, 8, 9)
    for former in (
        replace(query, operator=given, where="n > 0"),
        replace(query, operator=given, stream="another"),
        replace(query, operator=None),
    ):
        assert edges_of(completed(query, former, stream, {}, scope=unlimited("test"))) == (0.5, 2.0, 2.5)
    assert completed(first, None, stream, {}, scope=Scope("none", columns=frozenset())) is first


def test_a_query_of_another_kind_is_complete(stream: Stream) -> None:
    query = replace(QUERY, operator=None)
    assert completed(query, None, stream, {}, scope=unlimited("test")) is query
    events = EventsDefinition.parse({"name": "events", "key": "s"})
    query = replace(QUERY, operator=events)
    assert completed(query, None, stream, {}, scope=unlimited("test")) is query


@pytest.mark.parametrize("columns", [{("d",)}, {("n",)}])
def test_columns_are_checked_before_the_sample_is_read(stream: Stream, columns: set[tuple[str, ...]]) -> None:
    scope = Scope("some", columns=frozenset(columns))
    with pytest.raises(ForbiddenError, match="column"):
        completed(replace(QUERY, stream=stream.name), None, stream, {}, scope=scope)


def test_a_check_takes_a_sample_for_who_may_register(resting: Resting, stream: Stream) -> None:
    definition = StandingCube.parse(PLAIN)
    found = completed_by_sample(resting.permitted, stream, "n >= 0", definition)
    assert isinstance(found, StandingCube)
    assert bins_of(found.cube)[0].levels == ("d:2", "d:4")
    with pytest.raises(ForbiddenError):
        completed_by_sample(resting.within(Scope("reader", read_only=True)), stream, "n >= 0", definition)
    assert completed_by_sample(resting.within(Scope("reader", read_only=True)), stream, "n >= 0", found) is found
