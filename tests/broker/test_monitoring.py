"""The monitor beside a stream: it looks when it should, rearranges what it should, and changes no result."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.accumulators import Accumulator

from asc.compiler import change_plan, compile_plan
from asc.executor import Matches, match
from asc.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.monitoring import StreamMonitor
from broker.sections import MonitorConfig
from broker.tally import Sampling, Tally, Tallying, TallyParam, TaskTally
from monitor.transfer import SequenceByAttribute, carried, transferred
from workloads.synthetic import d1_workload, non_uniform_tuples, uniform_tuples

LAMBDA = 2_000
WORKLOAD = d1_workload(40)
D1 = uniform_tuples(20_000, seed=3)
D2 = non_uniform_tuples(20_000, seed=3)


def tallied(plan: Plan, columns: list[Any], rows: int, sampling: Sampling | None, number: int = 1) -> Tally:
    """What the tasks of one batch hand over: two of them, as on two cores."""
    arrived: Accumulator[Tally | None] = Accumulator(-1, None, TallyParam(sampling.tuples if sampling else 0))
    for half in (slice(0, rows // 2), slice(rows // 2, rows)):
        task = TaskTally(Tallying(arrived, number, sampling))
        for start in range(half.start, half.stop, 500):
            part = [column.slice(start, min(500, half.stop - start)) for column in columns]
            task.add(plan.p_attributes, part, match(plan, part, len(part[0])))
        task.hand_over()
    assert arrived.value is not None
    return arrived.value


class Stream:
    """A stream without Spark: a plan that runs, batches that go through it, and their monitor."""

    def __init__(self, plan: Plan, **settings: Any) -> None:
        self.plan = plan
        values = {"lambda_tuples": LAMBDA, "sample_tuples": 1_000, "max_core_share": 1.0, **settings}
        self.monitor = StreamMonitor("s", MonitorConfig(**values), self.swap)
        self.swaps = 0
        self.monitor.start()

    def swap(self, sequences: Mapping[int, SequenceByAttribute]) -> Plan:
        orders = {number: transferred(sequence, self.plan, number) for number, sequence in sequences.items()}
        self.plan = self.plan.with_sequences(orders)
        self.swaps += 1
        return self.plan

    def run(self, tuples: pa.Table) -> Matches:
        """One batch, and the time that the monitor needs for it."""
        plan = self.plan
        columns = [tuples[attribute.sql].combine_chunks() for attribute in plan.p_attributes]
        tally = tallied(plan, columns, tuples.num_rows, self.monitor.sampling())
        self.monitor.offer(plan, tally)
        deadline = time.monotonic() + 30
        while self.monitor.behind:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        return match(plan, columns, tuples.num_rows, count_cost=True)

    def cost(self, tuples: pa.Table) -> float:
        return self.run(tuples).evaluated / tuples.num_rows


@pytest.fixture
def stream() -> Iterator[Any]:
    started: list[Stream] = []

    def start(plan: Plan | None = None, **settings: Any) -> Stream:
        started.append(Stream(plan or compile_plan(WORKLOAD.standing_queries()), **settings))
        return started[-1]

    yield start
    for one in started:
        one.monitor.stop()


def pairs(matches: Matches) -> list[tuple[int, int]]:
    return list(zip(matches.rows.tolist(), matches.queries.tolist(), strict=True))


def test_the_first_look_comes_after_the_sample_and_the_next_ones_every_lambda(stream: Any) -> None:
    one = stream(mu=0.0)
    one.run(D1.slice(0, 999))
    assert one.monitor.events == ()
    one.run(D1.slice(999, 1))
    (first,) = one.monitor.events
    assert (first.trigger, first.dropping_ratio_before, first.sample_tuples) == ("unmeasured", None, 1_000)
    one.run(D1.slice(1_000, LAMBDA - 1))
    assert len(one.monitor.events) == 1
    one.run(D1.slice(1_000 + LAMBDA, 1))
    # mu = 0 rearranges at every look.
    assert [event.tuples for event in one.monitor.events] == [1_000, LAMBDA]


def test_after_a_switch_of_the_data_the_cost_falls_again_within_lambda(stream: Any) -> None:
    one = stream()
    for start in range(0, 5 * LAMBDA, LAMBDA):
        one.run(D1.slice(start, LAMBDA))
    before = len(one.monitor.events)
    switched = one.cost(D2.slice(0, LAMBDA))
    events = one.monitor.events[before:]
    assert [event.trigger for event in events] == ["dropping ratio"]
    assert events[0].cost_after < events[0].cost_before
    assert events[0].old_sequence != events[0].new_sequence
    assert sorted(events[0].old_sequence) == sorted(events[0].new_sequence)
    assert one.cost(D2.slice(LAMBDA, LAMBDA)) < switched


def test_matches_are_the_same_whatever_is_swapped_in(stream: Any) -> None:
    one = stream(mu=0.0)
    plain = compile_plan(WORKLOAD.standing_queries())
    for tuples in (D1, D2):
        for start in range(0, 4 * LAMBDA, LAMBDA):
            batch = tuples.slice(start, LAMBDA)
            columns = [batch[attribute.sql] for attribute in plain.p_attributes]
            assert pairs(one.run(batch)) == pairs(match(plain, columns, LAMBDA))
    assert one.swaps >= 7


def test_periodic_mode_takes_a_step_each_tau(stream: Any) -> None:
    one = stream(mode="periodic", tau_tuples=500, triggers=["dropping_ratio"])
    one.run(D1.slice(0, 1_000))
    steps = 1
    while not one.monitor.events:
        one.run(D1.slice(1_000 + 500 * steps, 500))
        steps += 1
    # n constructs take n - 1 steps.
    assert steps == len(one.plan.blocks[0].slots) - 1
    assert one.monitor.events[0].trigger == "unmeasured"


def test_off_counts_but_neither_draws_nor_rearranges_until_it_is_reloaded(stream: Any) -> None:
    one = stream(enabled=False, mu=0.0)
    one.run(D1.slice(0, LAMBDA))
    assert one.monitor.sampling() is None
    assert (one.monitor.events, one.monitor.totals.tuples, one.monitor.totals.sampled) == ((), LAMBDA, 0)
    one.monitor.reload(MonitorConfig(lambda_tuples=LAMBDA, sample_tuples=1_000, max_core_share=1.0))
    one.run(D1.slice(LAMBDA, LAMBDA))
    assert len(one.monitor.events) == 1


def test_without_triggers_nothing_is_drawn(stream: Any) -> None:
    one = stream(triggers=[])
    one.run(D1.slice(0, LAMBDA))
    assert (one.monitor.sampling(), one.monitor.events) == (None, ())


def test_the_cost_trigger_alone_says_so(stream: Any) -> None:
    one = stream(triggers=["cost"], mu=0.05)
    for start in range(0, 5 * LAMBDA, LAMBDA):
        one.run(D1.slice(start, LAMBDA))
    before = len(one.monitor.events)
    one.run(D2.slice(0, LAMBDA))
    assert [event.trigger for event in one.monitor.events[before:]] == ["cost"]


def test_queries_that_come_and_go_leave_the_monitor_going(stream: Any) -> None:
    options = CompileOptions(exact_bytes=0, block_conjuncts=64, bounded_rows=0)
    standing = WORKLOAD.standing_queries()
    more = d1_workload(200, seed=9).standing_queries()[40:]
    one = stream(compile_plan(standing, options), mu=0.0)
    queries = {query.id: query for query in standing}
    for step in range(6):
        added, removed = more[step * 20 : step * 20 + 20], list(queries)[:5]
        one.plan = carried(one.plan, change_plan(one.plan, added, removed))
        queries = {key: query for key, query in queries.items() if key not in removed}
        queries.update((query.id, query) for query in added)
        batch = (D1, D2)[step % 2].slice(step * LAMBDA, LAMBDA)
        found = one.run(batch)
        fresh = compile_plan(queries.values(), options)
        columns = [batch[attribute.sql] for attribute in fresh.p_attributes]
        assert (
            found.lists(one.plan.query_ids).to_pylist()
            == match(fresh, columns, LAMBDA).lists(fresh.query_ids).to_pylist()
        )
    assert one.monitor.totals.rearrangements["unmeasured"] >= 1
    assert {event.block for event in one.monitor.events} > {0}


def test_a_failure_is_logged_and_the_next_look_goes_on(stream: Any, caplog: pytest.LogCaptureFixture) -> None:
    one = stream(mu=0.0)
    works = one.swap

    def fails(_: Mapping[int, SequenceByAttribute]) -> Plan:
        raise RuntimeError("no plan today")

    one.monitor._swap = fails
    one.run(D1.slice(0, LAMBDA))
    assert "stream 's': the monitor could not look: no plan today" in caplog.text
    one.monitor._swap = works
    one.run(D1.slice(LAMBDA, LAMBDA))
    assert len(one.monitor.events) == 1


def test_between_rearrangements_it_rests(stream: Any) -> None:
    one = stream(mu=0.0, max_core_share=1e-6)
    for start in range(0, 5 * LAMBDA, LAMBDA):
        one.run(D1.slice(start, LAMBDA))
    assert len(one.monitor.events) == 1


def test_all_null_and_constant_attributes_are_measured_like_others(stream: Any) -> None:
    one = stream(mu=0.0)
    nothing = pa.table({name: pa.nulls(LAMBDA, pa.int32()) for name in D1.column_names})
    same = pa.table({name: pa.array(np.full(LAMBDA, 7, np.int32)) for name in D1.column_names})
    assert one.run(nothing).dropped == LAMBDA
    one.run(same)
    assert len(one.monitor.events) == 2


def test_a_draw_is_uniform_and_bounded() -> None:
    plan = compile_plan(WORKLOAD.standing_queries())
    tuples = D1.set_column(0, "a0", pa.array(np.arange(20_000, dtype=np.int32)))
    columns = [tuples[attribute.sql].combine_chunks() for attribute in plan.p_attributes]
    draw = tallied(plan, columns, 20_000, Sampling(0.5, 2_000)).draw
    assert draw is not None
    assert len(draw) == 2_000
    (values,) = [draw.values["a0"].to_numpy()]
    assert len(set(values.tolist())) == 2_000
    # 500 of each quarter on average, with a deviation of 18: eight of them are never seen.
    assert all(350 < count < 650 for count in np.histogram(values, 4, (0, 20_000))[0])


def test_long_values_are_cut_in_a_draw() -> None:
    plan = compile_plan([Query("q", normalise("s > 'b'", Schema.from_ddl("s STRING")))])
    texts = pa.array(["x" * 1_000_000, None, "ü" * 100])
    draw = tallied(plan, [texts], 3, Sampling(1.0, 10)).draw
    assert draw is not None
    assert draw.values.nbytes < 1_000
    assert draw.columns(plan.p_attributes)[0] is not None


def test_tallies_of_an_older_plan_are_left_out() -> None:
    plan = compile_plan(WORKLOAD.standing_queries())
    columns = [D1[attribute.sql].combine_chunks().slice(0, 1_000) for attribute in plan.p_attributes]
    old, new = (tallied(plan, columns, 1_000, Sampling(1.0, 10), number) for number in (1, 2))
    assert old.merged(new, 10).tuples == new.merged(old, 10).tuples == 1_000
    assert new.merged(new, 10).tuples == 2_000
