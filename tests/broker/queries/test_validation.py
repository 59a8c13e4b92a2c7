"""What is refused of changes, and that nothing is changed by judging them."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

from asc.errors import PredicateError
from broker.access.scope import Scope
from broker.errors import ForbiddenError, QueryError
from broker.operators.dbscan.definition import StandingDbscan
from broker.operators.events.definition import EventsDefinition
from broker.operators.near.definition import NearDefinition
from broker.queries.change import Outcome, Put, Remove
from broker.queries.load_progress import LoadProgress
from broker.queries.query import RegisteredQuery
from broker.queries.registrar import DAEMON
from broker.queries.validation import refusing

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def test_each_is_judged_by_itself(resting: Resting) -> None:
    judge, standing = resting.registrar()._validator, resting.registrar().standing
    own, other = resting.stream("json"), resting.stream("csv")
    long_ago = datetime(2020, 1, 1, tzinfo=timezone.utc)
    error = QueryError("field id", 1, "is none")
    changes = [
        Put(RegisteredQuery("judge-a", own, "n > 1", "t")),
        Put(RegisteredQuery("judge-b", other, "n > 1", "t")),
        Put(RegisteredQuery("judge-c", own, "zz > 1", "t")),
        Put(RegisteredQuery("judge-d", own, "n > 1", "t", expires_at=long_ago)),
        error,
        Remove("judge-none"),
    ]
    load = LoadProgress(len(changes))
    candidates, refused = judge.judged(changes, standing, load, Scope("x", streams=frozenset({own})))
    assert (set(candidates), set(refused)) == ({0}, {1, 2, 3, 4})
    assert isinstance(refused[1], ForbiddenError)
    assert "is in the past" in str(refused[3])
    assert refused[4] is error
    assert load.read == len(changes)
    assert resting.registrar().standing is standing


def test_what_hangs_on_others_is_judged_together(resting: Resting) -> None:
    judge, standing = resting.registrar()._validator, resting.registrar().standing
    own = resting.stream("json")
    scope = Scope("few", id_prefix="judge-few-", max_queries=2)
    changes = [Put(RegisteredQuery(f"judge-few-{i}", own, "n > 1", "judge-not-there")) for i in range(3)]
    candidates, refused = judge.judged(changes, standing, LoadProgress(3), DAEMON)
    assert refused == {}
    assert judge.refuse_together(candidates, refused, scope, []) == {"judge-not-there"}
    assert set(refused) == {2}
    refused.clear()
    # One that is removed in the same step makes room.
    judge.refuse_together(candidates, refused, scope, ["judge-few-gone"])
    assert refused == {}
    assert resting.registrar().standing is standing


def test_who_may_write_more_than_a_topic_takes_is_warned(resting: Resting) -> None:
    registrar, own = resting.registrar(), resting.stream("json")
    narrow, wide, missing = (f"{name}-{uuid.uuid4().hex[:12]}" for name in ("narrow", "wide", "missing"))
    resting.cluster.ensure_topics([narrow], {"max.message.bytes": "4000"})
    resting.cluster.ensure_topics([wide], {"max.message.bytes": "20000"})
    near = NearDefinition("s", 5, 30, 10, time="t", position="ST_Point(d, d)")
    crowds = {"name": "dbscan", "attributes": ["d", "n"], "eps": 1, "min_samples": 3, "window_s": 60, "slide_s": 10}
    few = {**crowds, "sample": 10}
    queries = [
        RegisteredQuery("narrow-events", own, "n > 1", narrow, operator=EventsDefinition("s")),
        RegisteredQuery("narrow-near", own, "n > 1", narrow, operator=near),
        RegisteredQuery("wide-near", own, "n > 1", wide, operator=near),
        RegisteredQuery("narrow-route", own, "n > 1", narrow),
        RegisteredQuery("narrow-paused", own, "n > 1", narrow, paused=True, operator=EventsDefinition("s")),
        RegisteredQuery("narrow-few", own, "n > 1", narrow, operator=StandingDbscan.parse(few)),
        RegisteredQuery("wide-crowds", own, "n > 1", wide, operator=StandingDbscan.parse({**crowds, "sample": 500})),
        RegisteredQuery("missing-crowds", own, "n > 1", missing, operator=StandingDbscan.parse(crowds)),
    ]

    def warned(outcome: Outcome) -> dict[str, int]:
        """The bytes that a record may take, of each query that is warned."""
        assert outcome.refused == {}
        found = {one.query.id: one.warnings for one in outcome.registered.values() if one.warnings}
        limits = {"narrow": "4,000", "wide": "20,000"}
        sizes = {}
        for query_id, (warning,) in found.items():
            limit = limits[query_id.partition("-")[0]]
            match = re.fullmatch(rf"topic '\S+' takes records of at most {limit} bytes, .* take ([0-9,]+): .*", warning)
            assert match is not None, warning
            sizes[query_id] = int(match[1].replace(",", ""))
        return sizes

    wanted = {"narrow-events": 4_096, "narrow-near": 8_192, "narrow-few": 4_696, "wide-crowds": 34_096}
    assert warned(registrar.rehearsed([*map(Put, queries)])) == wanted
    assert warned(registrar.apply([*map(Put, queries)])) == wanted
    registrar.apply([Remove(query.id) for query in queries])


def test_at_a_limit_of_operators_a_query_is_renamed_in_one_step(resting: Resting) -> None:
    registrar, own = resting.registrar(), resting.stream("json")
    most = resting.config.limits.stream_near_queries

    def near(name: str, *, paused: bool = False) -> Put:
        definition = NearDefinition("s", 500, 30, 10, position="ST_Point(d, n)")
        return Put(RegisteredQuery(name, own, "n > 1", "renamed", paused=paused, operator=definition))

    left = most - len(list(registrar.standing.walk(streams=[own], operator="near")))
    names = [f"renamed-{i}" for i in range(left)]
    try:
        registrar.apply([near(name) for name in names]).raised()
        assert f"has {most} already" in str(registrar.apply([near("renamed-new")]).refused[0])
        renaming = [near("renamed-new"), Remove(names[0])]
        assert registrar.rehearsed(renaming).refused == {}
        outcome = registrar.apply(renaming)
        assert (set(outcome.registered), set(outcome.removed)) == ({0}, {1})
        assert registrar.apply([near("renamed-more"), near(names[1], paused=True)]).refused == {}
        # Where the change that frees the place is refused, there is none.
        refused = registrar.apply([near("renamed-last"), Put(replace(near(names[2]).query, topic="a/b"))]).refused
        assert set(refused) == {0, 1}
    finally:
        registrar.apply([Remove(query.id) for query in registrar.standing.walk("renamed-")])


def test_of_a_load_no_more_is_read_than_may_stand(resting: Resting) -> None:
    judge, standing = resting.registrar()._validator, resting.registrar().standing
    scope = Scope("few", id_prefix="judge-few-", max_queries=2)
    ids = ["1", "2", "1", "3"]
    changes = [Put(RegisteredQuery(f"judge-few-{i}", resting.stream("json"), "no predicate", "t")) for i in ids]
    candidates, refused = judge.judged(changes, standing, LoadProgress(len(ids)), scope)
    assert candidates == {}
    assert [type(refused[position]) for position in range(4)] == [PredicateError] * 3 + [ForbiddenError]


def test_the_stream_that_is_meant(resting: Resting) -> None:
    judge, own = resting.registrar()._validator, resting.stream("json")
    assert judge.stream_of(None, Scope("x", streams=frozenset({own}))).name == own
    with pytest.raises(QueryError, match="name one of"):
        judge.stream_of(None, DAEMON)
    with pytest.raises(QueryError, match="unknown stream 'none'"):
        judge.stream_of("none", DAEMON)


def test_what_is_refused_is_kept_with_its_place() -> None:
    refused = {}
    with refusing(refused, 3):
        raise QueryError("a", "b", "c")
    assert str(refused[3]) == "a 'b': c"
    with pytest.raises(ValueError, match="not refused"), refusing(refused, 4):
        raise ValueError("not refused")
    assert set(refused) == {3}
