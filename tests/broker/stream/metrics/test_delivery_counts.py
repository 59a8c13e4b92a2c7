"""Counts by query, against plain dicts, while plans come and go."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.matching.plan_ids import RegisteredIds
from broker.matching.query_counts import QueryCounting
from broker.stream.metrics import delivery_counts
from broker.stream.metrics.delivery_counts import DeliveryCounts

SCHEMA = Schema.from_ddl("a INT")
IDS = [f"q{number:02}" for number in range(30)]
SMALL_BLOCKS = CompileOptions(exact_bytes=0, block_conjuncts=4, rebuild_share=0.5)


def query(name: str, constant: int = 1) -> Query:
    return Query(name, normalise(f"a > {constant}", SCHEMA), "t")


def batch(counts: DeliveryCounts, plan: Plan, accepted: dict[str, int], now_s: float) -> None:
    counting = QueryCounting(len(plan))
    for name, count in accepted.items():
        ordinal = plan.ordinal(name)
        assert ordinal is not None
        counting.add(np.full(count, ordinal, dtype=np.int32))
    counts.count(plan, counting.counts(), now_s)


class Counting(RuleBasedStateMachine):
    """Queries are added, replaced and removed; batches run with the plan of now, and some with the one before."""

    def __init__(self) -> None:
        super().__init__()
        self.counts = DeliveryCounts()
        self.plan = self.before = compile_plan([query(name) for name in IDS[:10]], SMALL_BLOCKS, version=1)
        self.wanted: Counter[str] = Counter()
        self.minutes: dict[int, Counter[str]] = {}
        self.seen = self.plan
        self.now_s = 6_000.0

    @rule(names=st.sets(st.sampled_from(IDS), min_size=1, max_size=6), constant=st.integers(0, 5))
    def put(self, names: set[str], constant: int) -> None:
        removed = [name for name in names if name in self.plan]
        added = [query(name, constant) for name in sorted(names)]
        self.before, self.plan = self.plan, change_plan(self.plan, added, removed, version=self.plan.version + 1)

    @rule(names=st.sets(st.sampled_from(IDS), max_size=6))
    def remove(self, names: set[str]) -> None:
        gone = [name for name in names if name in self.plan]
        self.before, self.plan = self.plan, change_plan(self.plan, [], gone, version=self.plan.version + 1)

    @rule(accepted=st.dictionaries(st.sampled_from(IDS), st.integers(1, 9)), replays=st.booleans())
    def run(self, accepted: dict[str, int], replays: bool) -> None:
        plan = self.before if replays else self.plan
        of_plan = {name: count for name, count in accepted.items() if name in plan}
        batch(self.counts, plan, of_plan, self.now_s)
        if plan.version >= self.seen.version:
            self.seen = plan
            self.wanted = Counter({name: count for name, count in self.wanted.items() if name in plan})
            for minute in self.minutes.values():
                for name in [name for name in minute if name not in plan]:
                    del minute[name]
        counted = {name: count for name, count in of_plan.items() if name in self.seen}
        self.wanted.update(counted)
        self.minutes.setdefault(int(self.now_s // 60), Counter()).update(counted)

    @rule(seconds=st.sampled_from([1, 30, 61, 600]))
    def wait(self, seconds: int) -> None:
        self.now_s += seconds

    @invariant()
    def counts_are_as_wanted(self) -> None:
        assert {name: self.counts.of(name) for name in IDS if self.counts.of(name)} == dict(self.wanted)
        assert dict(self.counts.most(100)) == dict(self.wanted)
        ids, counted = self.counts.counts()
        assert {
            name: count for name, count in zip(ids.to_pylist(), counted.tolist(), strict=True) if count
        } == self.wanted
        last = self.minutes.get(int(self.now_s // 60) - 1, Counter())
        ids, counted = self.counts.last_minute(self.now_s)
        assert {name: count for name, count in zip(ids.to_pylist(), counted.tolist(), strict=True) if count} == last
        assert {name: self.counts.of_last_minute(name, self.now_s) for name in last} == last
        first = int(self.now_s // 60) - 60
        for name in IDS[:12]:
            wanted = [(m * 60, each[name]) for m, each in sorted(self.minutes.items()) if each[name] and m > first]
            assert self.counts.by_minute(name, self.now_s) == wanted


TestCounting = Counting.TestCase
TestCounting.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


def test_those_that_were_given_most_come_first() -> None:
    counts = DeliveryCounts()
    plan = compile_plan([query(name) for name in IDS], version=1)
    batch(counts, plan, {"q03": 5, "q01": 9, "q02": 5, "q07": 1}, 0.0)
    assert counts.most(3) == [("q01", 9), ("q02", 5), ("q03", 5)]
    assert counts.total == 20


def test_minutes_are_fewer_where_they_would_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_counts, "_ENTRIES_MAX", 8)
    counts = DeliveryCounts()
    plan = compile_plan([query(name) for name in IDS], version=1)
    for minute in range(6):
        batch(counts, plan, dict.fromkeys(IDS[:4], 1), minute * 60.0)
    assert [minute for minute, _ in counts.by_minute("q00", 330.0)] == [180, 240, 300]


def test_a_join_goes_on_counting_while_its_members_come_and_go() -> None:
    counts = DeliveryCounts()
    plan = compile_plan([query(name) for name in ("a", "j-x", "j/1", "j/2", "p|1")], version=1)

    def count(ran: Plan, accepted: dict[str, int]) -> None:
        registered = RegisteredIds.of(ran.query_ids)
        counting = QueryCounting(len(registered.ids))
        for name, number in accepted.items():
            counting.add(np.full(number, registered.ids.to_pylist().index(name), dtype=np.int32))
        counts.count(ran, counting.counts(), 6_000.0)

    count(plan, {"a": 1, "j": 2, "j-x": 4, "p": 8})
    after = change_plan(plan, [query("j/3")], ["j/1", "j/2"], version=2)
    count(after, {"j": 16, "a": 32})
    count(plan, {"j": 64})
    assert {name: counts.of(name) for name in ("a", "j", "j-x", "p", "j/3")} == {
        **{"a": 33, "j": 82, "j-x": 4, "p": 8},
        "j/3": 0,
    }
    assert counts.most(2) == [("j", 82), ("a", 33)]
    plain = change_plan(after, [], ["j/3", "p|1"], version=3)
    count(plain, {"a": 128})
    assert (counts.of("a"), counts.of("j"), counts.of("j-x")) == (161, 0, 4)
    count(change_plan(plain, [query("b")], [], version=4), {"b": 1, "a": 1})
    assert (counts.of("a"), counts.of("b")) == (162, 1)
    assert counts.by_minute("a", 6_001.0) == [(6_000, 162)]
