"""The set of standing queries against a plain dictionary, whatever comes and goes."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from broker.errors import UnknownQueryError
from broker.operators.events.definition import EventsDefinition
from broker.operators.near.definition import NearDefinition
from broker.plans.sorted_map import SortedMap
from broker.queries.join import Join
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
IDS = st.text("ab.", min_size=1, max_size=3)
QUERIES = st.builds(
    RegisteredQuery,
    id=IDS,
    stream=st.sampled_from(["flights", "cargo"]),
    where=st.just("n > 1"),
    topic=st.sampled_from(["out", "cargo-source"]),
    labels=st.dictionaries(st.sampled_from("xy"), st.sampled_from("12"), max_size=2),
    paused=st.booleans(),
    expires_at=st.sampled_from([None, NOW, NOW + timedelta(seconds=1)]),
)


class Sets(RuleBasedStateMachine):
    """Puts and removals in any order; every view of the set is what a dictionary says."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = {"a": RegisteredQuery("a", "flights", "length(gone) > 1", "out")}
        self.unserved = {"a": "refused by Spark"}
        self.standing = QuerySet(self.plain, -1, self.unserved, ["cargo-source"])
        self.version = -1

    @rule(puts=st.lists(QUERIES, max_size=4, unique_by=lambda query: query.id), removes=st.sets(IDS, max_size=2))
    def change(self, puts: list[RegisteredQuery], removes: set[str]) -> None:
        before, held = self.standing, dict(self.standing.queries)
        self.version += 1
        self.standing = self.standing.changed(puts, removes, self.version)
        assert dict(before.queries) == held
        for query_id in removes:
            self.plain.pop(query_id, None)
        self.plain.update((query.id, query) for query in puts)
        self.unserved = {
            query_id: reason
            for query_id, reason in self.unserved.items()
            if query_id in self.plain and query_id not in {query.id for query in puts}
        }

    @rule(
        prefix=st.text("ab.", max_size=2),
        label=st.none() | st.tuples(st.sampled_from("xy"), st.sampled_from("12")),
        stream=st.sampled_from([None, "flights", "cargo"]),
        limit=st.integers(1, 4),
    )
    def pages(self, prefix: str, label: tuple[str, str] | None, stream: str | None, limit: int) -> None:
        found, after, more = [], None, True
        while more:
            page, more = self.standing.page(
                prefix=prefix, label=label, streams=None if stream is None else [stream], after=after, limit=limit
            )
            assert len(page) == limit or not more
            found += page
            after = page[-1].id if page else after
        streams = None if stream is None else [stream]
        assert self.standing.count(prefix, streams, label=label) == len(found)
        assert found == [
            query
            for query_id, query in sorted(self.plain.items())
            if query_id.startswith(prefix)
            and (label is None or query.labels.get(label[0]) == label[1])
            and stream in (None, query.stream)
        ]

    @rule(ids=st.sets(IDS))
    def serve_no_more(self, ids: set[str]) -> None:
        self.unserved = dict.fromkeys(ids & self.plain.keys(), "refused by Spark")
        self.standing = self.standing.with_unserved(self.unserved)

    @invariant()
    def it_holds_what_the_dictionary_holds(self) -> None:
        assert dict(self.standing.queries) == self.plain
        assert (len(self.standing), self.standing.version) == (len(self.plain), self.version)
        assert self.standing.unserved == self.unserved
        assert sorted(self.standing.expired(NOW)) == sorted(
            query_id for query_id, query in self.plain.items() if query.expires_at == NOW
        )
        for query_id, query in self.plain.items():
            served = not query.paused and query_id not in self.unserved
            assert self.standing.planned_on(query_id) == (query.stream if served else None)
        for prefix in ("", "a", "ab", "b.", "c"):
            of_prefix = [query for query in self.plain.values() if query.id.startswith(prefix)]
            assert self.standing.count(prefix, None) == len(of_prefix)
            for stream in ("flights", "cargo", "none"):
                own = {query.id for query in of_prefix if query.stream == stream}
                assert self.standing.count(prefix, [stream]) == len(own)
                assert self.standing.unserved_count(prefix, stream) == len(own & self.unserved.keys())
        assert self.standing.counts() == Counter(query.stream for query in self.plain.values())
        for without in ((), ["a"], list(self.plain)):
            assert self.standing.feeds(without) == {
                (query.stream, query.topic)
                for query in self.plain.values()
                if query.topic != "out" and query.id not in without
            }


TestSets = Sets.TestCase


def test_an_id_that_is_not_there_is_one_line() -> None:
    with pytest.raises(UnknownQueryError, match="unknown query 'late': 'asc query list'"):
        QuerySet().get("late")
    assert QuerySet().planned_on("late") is None


def test_no_count_or_page_looks_at_more_than_it_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    queries = {
        f"{stream}-{n:05}": RegisteredQuery(f"{stream}-{n:05}", stream, "n > 1", "out", {"team": "ops"})
        for stream in ("cargo", "flights")
        for n in range(20_000)
    }
    standing = QuerySet(queries, 1, dict.fromkeys(queries, "refused"))
    looked_up = Counter[str]()
    found = SortedMap.__getitem__

    def counted(self: SortedMap[str, object], key: str) -> object:
        looked_up[key] += 1
        return found(self, key)

    monkeypatch.setattr(SortedMap, "__getitem__", counted)
    page, more = standing.page(label=("team", "ops"), streams=["flights"], limit=10)
    assert ([query.id for query in page], more) == ([f"flights-{n:05}" for n in range(10)], True)
    assert standing.page(label=("team", "ops"), streams=["none"], limit=10) == ([], False)
    assert standing.count("flights-1", ["flights"]) == standing.unserved_count("flights-1", "flights") == 10_000
    assert (standing.count("flights", ["cargo"]), standing.unserved_count("flights", "cargo")) == (0, 0)
    assert looked_up.total() == 11


def test_joins_are_found_by_layer_and_by_id() -> None:
    joins = [
        RegisteredQuery(name, "s", "n < z.n", "t", join=Join(layer))
        for name, layer in (("b", "z"), ("a", "z"), ("c", "z2"), ("z", "z"))
    ]
    others = [
        RegisteredQuery("named", "s", "ST_Contains(shape('z', 'x'), ST_Point(a, b))", "t"),
        RegisteredQuery("d", "s", "n > 1", "t"),
    ]
    found = QuerySet().changed([*joins, *others], [], 3)
    assert [query.id for query in found.joins_over("z")] == ["a", "b", "z"]
    assert [query.id for query in found.walk(layer="z")] == ["a", "b", "z"]
    assert [query.id for query in found.walk(layer="z", after="a")] == ["b", "z"]
    assert [query.id for query in found.walk("b", layer="z")] == ["b"]
    assert list(found.walk(layer="z", streams=["t"])) == []
    assert found.joins_over("y") == []
    # Which joins a shape moves is told by member, so that they name none.
    assert found.naming({"z": {"x"}}) == {"named"}
    assert found.naming({"z": None}) == {"named", "a", "b", "z"}
    after = found.changed([RegisteredQuery("a", "s", "n > 1", "t")], ["b"], 4)
    assert [query.id for query in after.joins_over("z")] == ["z"]
    assert [query.id for query in after.walk(layer="z")] == ["z"]
    assert [query.id for query in after.walk(layer="z2")] == ["c"]


def test_queries_are_found_by_operator_and_the_smallest_of_several_filters_is_walked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events, near = EventsDefinition("k"), NearDefinition("k", 5, 30, 10)
    team = {"team": "ops"}
    queries = [RegisteredQuery(f"r-{n:04}", "s", "n > 1", "t", team) for n in range(5_000)]
    queries += [RegisteredQuery(f"e-{n:04}", "s", "n > 1", "t", team, operator=events) for n in range(50)]
    queries += [RegisteredQuery("n-1", "s", "n > 1", "t", team, operator=near)]
    queries += [RegisteredQuery("n-2", "u", "n > 1", "t", operator=near, join=Join("z"))]
    found = QuerySet().changed(queries, [], 3)
    looked_up = Counter[str]()
    item = SortedMap.__getitem__

    def counted(self: SortedMap[str, object], key: str) -> object:
        looked_up[key] += 1
        return item(self, key)

    monkeypatch.setattr(SortedMap, "__getitem__", counted)
    assert [query.id for query in found.walk(operator="near")] == ["n-1", "n-2"]
    assert [query.id for query in found.walk(operator="near", label=("team", "ops"))] == ["n-1"]
    assert [query.id for query in found.walk(operator="near", layer="z")] == ["n-2"]
    assert [query.id for query in found.walk(operator="events", label=("team", "ops"), after="e-0047")] == [
        "e-0048",
        "e-0049",
    ]
    assert looked_up.total() == 7
    page, more = found.page(operator="route", label=("team", "ops"), limit=2)
    assert ([query.id for query in page], more) == (["r-0000", "r-0001"], True)
    after = found.changed([RegisteredQuery("n-1", "s", "n > 1", "t")], ["n-2"], 4)
    assert list(after.walk(operator="near")) == []
    assert [query.id for query in after.walk("n", operator="route")] == ["n-1"]
