"""Queries in the order of their figures, page by page, as far as a caller sees them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from broker.access.scope import Scope
from broker.http.ranking import ACCEPTED, ERRORS, RATE, Place, Wanted, _counted, figure_of, ranked
from broker.http.scoped_service import ScopedService
from broker.matching.query_counts import QueryCounts
from broker.queries.change import Put, Remove
from broker.queries.query import RegisteredQuery
from broker.stream.metrics.stream_stats import StreamStats

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

COUNTS = {"rank-a": 5, "rank-b": 0, "rank-c": 9, "rank-d": 5, "rank-e": 0, "rank-own-1": 7, "rank-own-2": 1}
ALL = Wanted(prefix="rank-")


@pytest.fixture
def counting(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Counts records of registered queries as a batch does, at a second; all of it is gone after the test."""
    name = resting.stream("json")
    stream = resting.streams()[name]
    now_s = [6_000.0]
    monkeypatch.setattr(stream, "figures", StreamStats(stream.figures.lag, lambda: now_s[0]))
    queries = [RegisteredQuery(query_id, name, f"n = {len(query_id)}", "rank-out") for query_id in COUNTS]
    resting.registrar().apply([Put(query) for query in queries]).raised()

    def count(counts: dict[str, int], at_s: float) -> None:
        now_s[0] = at_s
        plan = resting.registrar().plan_of(queries[0])
        ordinals = {query_id: plan.ordinal(query_id) for query_id in counts}
        assert None not in ordinals.values()
        places = np.array(list(ordinals.values()), dtype=np.int64)
        stream.figures.delivered.count(plan, QueryCounts(places, np.array(list(counts.values()), dtype=np.int64)), at_s)

    yield count
    resting.registrar().apply([Remove(query.id) for query in queries]).raised()


def listed(permitted: ScopedService, figure: str, limit: int, wanted: Wanted = ALL) -> list[str]:
    """The ids of all pages."""
    found: list[str] = []
    after: Place | None = None
    while True:
        page, after = ranked(permitted, figure, wanted, after, limit)
        assert len(page) <= limit
        found += [query.id for query in page]
        if after is None:
            return found


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_the_most_come_first_and_equals_by_id(resting: Resting, counting: Callable[..., None], limit: int) -> None:
    counting({query_id: count for query_id, count in COUNTS.items() if count}, 6_030.0)
    wanted = sorted(COUNTS, key=lambda query_id: (-COUNTS[query_id], query_id))
    assert listed(resting.permitted, ACCEPTED, limit) == wanted
    # No minute is over in which they were given something.
    assert listed(resting.permitted, RATE, limit) == sorted(COUNTS)
    counting({"rank-b": 2}, 6_090.0)
    assert listed(resting.permitted, RATE, limit) == wanted
    assert figure_of(resting.permitted, resting.permitted.get("rank-c"), RATE) == 9
    counting({}, 6_130.0)
    assert listed(resting.permitted, RATE, limit) == ["rank-b", *(name for name in sorted(COUNTS) if name != "rank-b")]


def test_a_search_holds_for_a_ranking(resting: Resting, counting: Callable[..., None]) -> None:
    counting({query_id: count for query_id, count in COUNTS.items() if count}, 6_030.0)
    assert listed(resting.permitted, ACCEPTED, 2, Wanted("N = 10", "rank-")) == ["rank-own-1", "rank-own-2"]
    assert listed(resting.permitted, ACCEPTED, 2, Wanted(prefix="rank-own")) == ["rank-own-1", "rank-own-2"]
    assert listed(resting.permitted, ACCEPTED, 2, Wanted(prefix="rank-", label=("team", "ops"))) == []
    assert listed(resting.permitted, ACCEPTED, 2, Wanted(prefix="rank-", stream=resting.stream("csv"))) == []


def test_errors_have_an_order_too(
    resting: Resting, counting: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = resting.streams()[resting.stream("json")].evaluation_errors
    errors.count(10**9, {"rank-e": 3, "rank-b": 4})
    assert listed(resting.permitted, ERRORS, 2)[:3] == ["rank-b", "rank-e", "rank-a"]


def test_one_who_sees_some_is_told_of_no_others(
    resting: Resting, counting: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    counting({query_id: count for query_id, count in COUNTS.items() if count}, 6_030.0)
    own = resting.within(Scope("own", id_prefix="rank-own-"))
    assert listed(own, ACCEPTED, 50) == ["rank-own-1", "rank-own-2"]
    # Where time is short, the place after which to go on is one of an own query.
    monkeypatch.setattr("broker.http.ranking._LOOKED_S", -1.0)
    page, place = ranked(own, ACCEPTED, Wanted(), None, 50)
    assert ([query.id for query in page], place) == (["rank-own-1"], Place(7, "rank-own-1"))
    assert listed(own, ACCEPTED, 50) == ["rank-own-1", "rank-own-2"]
    assert ranked(own, ACCEPTED, Wanted(prefix="other"), None, 50) == ([], None)


def test_equal_figures_before_a_place_are_not_passed_one_by_one(
    resting: Resting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No bound of time holds within a loop over them."""
    stream = resting.streams()[resting.stream("json")]
    ids = pa.array([f"q{number:05}" for number in range(10_000)], pa.string())
    counts = (ids, np.ones(len(ids), dtype=np.int64))
    monkeypatch.setattr(stream, "figures", StreamStats(stream.figures.lag, lambda: 0.0))
    monkeypatch.setattr(stream.figures.delivered, "counts", lambda: counts)
    steps = 0

    def trace(*_: object) -> object:
        nonlocal steps
        steps += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]  # a function that returns itself
    try:
        found = next(_counted("s", stream, ACCEPTED, "", Place(1, "q08999")))
    finally:
        sys.settrace(before)
    assert found == (-1, "q09000", "s")
    assert steps < 1_000
