"""The monitor beside a stream: it looks when it should, rearranges what it should, and changes no result."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from asc.evaluation.executor import Matches, match
from asc.plan.block import Block
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.order import Order
from asc.plan.plan import CompileOptions, Plan
from broker.config.sections import MonitorConfig
from broker.matching.tally import Tally
from broker.monitoring.arrangement import SampledTuples
from broker.monitoring.stream_monitor import StreamMonitor
from broker.plans.binding import BatchBindings
from broker.plans.running_plan import RunningPlan
from workloads.drifting_tuples import turning
from workloads.placed_alerts import MEASURES, PLACES, placed_alerts
from workloads.synthetic import d1_workload, non_uniform_tuples, uniform_tuples

LAMBDA = 2_000
WORKLOAD = d1_workload(40)
D1 = uniform_tuples(20_000, seed=3)
D2 = non_uniform_tuples(20_000, seed=3)


class Running(RunningPlan):
    """The plan that runs, and what is to happen just before the monitor's orders are put into it."""

    def __init__(self, folder: Path) -> None:
        super().__init__("s", BatchBindings(folder, folder), {})
        self.meanwhile: Callable[[], object] = lambda: None
        self.arranged = 0

    def arrange(self, measured: Plan, orders: Mapping[int, Order]) -> Plan:
        self.meanwhile()
        self.arranged += 1
        return super().arrange(measured, orders)


class Stream:
    """A stream without Spark: a plan that runs, batches that go through it, and their monitor."""

    def __init__(self, folder: Path, tallied: Callable[..., Tally], plan: Plan, **settings: Any) -> None:
        self.running = Running(folder)
        self.running.replace(plan)
        self.tallied = tallied
        values = {"lambda_tuples": LAMBDA, "sample_tuples": 1_000, "max_core_share": 1.0, **settings}
        self.monitor = StreamMonitor("s", MonitorConfig(**values), self.running)
        self.monitor.start()

    @property
    def plan(self) -> Plan:
        return self.running.plan

    def run(self, tuples: pa.Table) -> Matches:
        """One batch, and the time that the monitor needs for it."""
        found = self.offer(self.plan, tuples)
        self.settle()
        return found

    def offer(self, plan: Plan, tuples: pa.Table) -> Matches:
        """One batch that was bound to a plan, in flight while the monitor measures."""
        columns = [tuples[attribute.sql].combine_chunks() for attribute in plan.p_attributes]
        tally = self.tallied(plan, columns, tuples.num_rows, self.monitor.sampling())
        self.monitor.offer(plan, tally)
        return match(plan, columns, tuples.num_rows, count_cost=True)

    def settle(self) -> None:
        deadline = time.monotonic() + 120
        while self.monitor.behind:
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def cost(self, tuples: pa.Table) -> float:
        return self.run(tuples).evaluated / tuples.num_rows


TIMED = SampledTuples.timed


def by_constructs(tuples: SampledTuples, blocks: Sequence[Block]) -> tuple[list[float], list[int]]:
    """As if each construct took a second: what is chosen does not hang on the machine."""
    _, evaluated = TIMED(tuples, blocks)
    return [float(number) for number in evaluated], evaluated


@pytest.fixture(autouse=True)
def _without_a_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SampledTuples, "timed", by_constructs)


@pytest.fixture
def stream(tallied: Callable[..., Tally], tmp_path: Path) -> Iterator[Any]:
    started: list[Stream] = []

    def start(plan: Plan | None = None, **settings: Any) -> Stream:
        started.append(
            Stream(tmp_path / str(len(started)), tallied, plan or compile_plan(WORKLOAD.standing_queries()), **settings)
        )
        return started[-1]

    yield start
    for one in started:
        one.monitor.stop()


def pairs(matches: Matches) -> list[tuple[int, int]]:
    return list(zip(matches.rows.tolist(), matches.queries.tolist(), strict=True))


def test_the_first_look_comes_after_the_sample_and_the_next_ones_every_lambda(stream: Any) -> None:
    one = stream(mu=0.0)
    one.run(D1.slice(0, 999))
    assert one.monitor.rearrangements == ()
    one.run(D1.slice(999, 1))
    (first,) = one.monitor.rearrangements
    assert (first.trigger, first.dropping_ratio_before, first.sample_tuples) == ("unmeasured", None, 1_000)
    one.run(D1.slice(1_000, LAMBDA - 1))
    assert len(one.monitor.rearrangements) == 1
    one.run(D1.slice(1_000 + LAMBDA, 1))
    # mu = 0 rearranges at every look.
    assert [event.tuples for event in one.monitor.rearrangements] == [1_000, LAMBDA]


def test_after_a_switch_of_the_data_the_cost_falls_again_within_lambda(stream: Any) -> None:
    # What rules the alerts out are the measures first, and the places afterwards: another order is far better.
    alerts = placed_alerts(200, attributes=40, domain=1_000)
    drift = turning(1, measures=MEASURES, places=PLACES, attributes=40)

    def tuples(place: float, seed: int) -> pa.Table:
        return drift.tuples(place, LAMBDA, domain=1_000, random=np.random.default_rng(seed))

    one = stream(compile_plan(alerts.standing_queries()))
    for seed in range(5):
        one.run(tuples(0.0, seed))
    before = len(one.monitor.rearrangements)
    switched = one.cost(tuples(1.0, 5))
    events = one.monitor.rearrangements[before:]
    assert [event.trigger for event in events] in (["dropping ratio"], ["cost"])
    assert events[0].cost_after < 0.7 * events[0].cost_before
    assert events[0].old_sequence != events[0].new_sequence
    assert sorted(events[0].old_sequence) == sorted(events[0].new_sequence)
    assert one.cost(tuples(1.0, 6)) < 0.7 * switched


def test_matches_are_the_same_whatever_is_swapped_in(stream: Any) -> None:
    one = stream(mu=0.0)
    plain = compile_plan(WORKLOAD.standing_queries())
    for tuples in (D1, D2):
        for start in range(0, 4 * LAMBDA, LAMBDA):
            batch = tuples.slice(start, LAMBDA)
            columns = [batch[attribute.sql] for attribute in plain.p_attributes]
            assert pairs(one.run(batch)) == pairs(match(plain, columns, LAMBDA))
    assert one.running.arranged >= 7


def test_periodic_mode_takes_a_step_each_tau(stream: Any) -> None:
    one = stream(mode="periodic", tau_tuples=500, triggers=["dropping_ratio"])
    one.run(D1.slice(0, 1_000))
    steps = 1
    while not one.monitor.rearrangements:
        one.run(D1.slice(1_000 + 500 * steps, 500))
        steps += 1
    # n constructs take n - 1 steps.
    assert steps == len(one.plan.blocks[0].slots) - 1
    assert one.monitor.rearrangements[0].trigger == "unmeasured"


def test_off_counts_but_neither_draws_nor_rearranges_until_it_is_reloaded(stream: Any) -> None:
    one = stream(enabled=False, mu=0.0)
    one.run(D1.slice(0, LAMBDA))
    assert one.monitor.sampling() is None
    assert (one.monitor.rearrangements, one.monitor.totals.tuples, one.monitor.totals.sampled) == ((), LAMBDA, 0)
    one.monitor.reload(MonitorConfig(lambda_tuples=LAMBDA, sample_tuples=1_000, max_core_share=1.0))
    one.run(D1.slice(LAMBDA, LAMBDA))
    assert len(one.monitor.rearrangements) == 1


def test_without_triggers_nothing_is_drawn(stream: Any) -> None:
    one = stream(triggers=[])
    one.run(D1.slice(0, LAMBDA))
    assert (one.monitor.sampling(), one.monitor.rearrangements) == (None, ())


def test_the_cost_trigger_alone_says_so(stream: Any) -> None:
    one = stream(triggers=["cost"], mu=0.05)
    for start in range(0, 5 * LAMBDA, LAMBDA):
        one.run(D1.slice(start, LAMBDA))
    before = len(one.monitor.rearrangements)
    one.run(D2.slice(0, LAMBDA))
    assert [event.trigger for event in one.monitor.rearrangements[before:]] == ["cost"]


def test_queries_that_come_and_go_leave_the_monitor_going(stream: Any, lists_of: Any) -> None:
    options = CompileOptions(exact_bytes=0, block_conjuncts=64, bounded_rows=0)
    standing = WORKLOAD.standing_queries()
    more = d1_workload(200, seed=9).standing_queries()[40:]
    one = stream(compile_plan(standing, options), mu=0.0)
    queries = {query.id: query for query in standing}
    for step in range(6):
        added, removed = more[step * 20 : step * 20 + 20], list(queries)[:5]
        one.running.replace(change_plan(one.plan, added, removed), one.plan)
        queries = {key: query for key, query in queries.items() if key not in removed}
        queries.update((query.id, query) for query in added)
        batch = (D1, D2)[step % 2].slice(step * LAMBDA, LAMBDA)
        found = one.run(batch)
        fresh = compile_plan(queries.values(), options)
        columns = [batch[attribute.sql] for attribute in fresh.p_attributes]
        assert lists_of(found, one.plan.query_ids) == lists_of(match(fresh, columns, LAMBDA), fresh.query_ids)
    assert one.monitor.totals.rearrangements["unmeasured"] >= 1
    assert {event.block for event in one.monitor.rearrangements} > {0}


def test_a_failure_is_logged_and_the_next_look_goes_on(stream: Any, caplog: pytest.LogCaptureFixture) -> None:
    one = stream(mu=0.0)

    def fails() -> None:
        raise RuntimeError("no plan today")

    one.running.meanwhile = fails
    one.run(D1.slice(0, LAMBDA))
    assert "stream 's': the monitor could not look: no plan today" in caplog.text
    assert one.monitor.rearrangements == ()
    one.running.meanwhile = lambda: None
    one.run(D1.slice(LAMBDA, LAMBDA))
    assert len(one.monitor.rearrangements) == 1


def test_between_rearrangements_it_rests(stream: Any) -> None:
    one = stream(mu=0.0, max_core_share=1e-6)
    for start in range(0, 5 * LAMBDA, LAMBDA):
        one.run(D1.slice(start, LAMBDA))
    assert len(one.monitor.rearrangements) == 1


def test_after_a_rest_what_was_due_is_done(stream: Any) -> None:
    one = stream(mu=0.0, max_core_share=1e-6)
    for start in range(0, 3 * LAMBDA, LAMBDA):
        one.run(D1.slice(start, LAMBDA))
    assert (len(one.monitor.rearrangements), one.monitor.sampling()) == (1, None)
    one.monitor.reload(MonitorConfig(lambda_tuples=LAMBDA, sample_tuples=1_000, max_core_share=1.0, mu=0.0))
    assert one.monitor.sampling() is not None
    one.run(D1.slice(3 * LAMBDA, 1_000))
    assert len(one.monitor.rearrangements) == 2


def test_a_batch_in_flight_does_not_put_the_next_look_off(stream: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def never_kept(tuples: SampledTuples, blocks: Sequence[Block]) -> tuple[list[float], list[int]]:
        seconds, evaluated = by_constructs(tuples, blocks)
        return [float("inf"), *seconds[1:]], evaluated

    monkeypatch.setattr(SampledTuples, "timed", never_kept)
    one = stream(mu=0.0)
    one.run(D1.slice(0, 1_000))
    looks = []
    for number in range(1, 5):
        # Bound before the swap that the batch before it leads to, done after it.
        plan = one.plan
        one.run(D1.slice(number * LAMBDA, LAMBDA))
        looks.append(len(one.monitor.rearrangements))
        assert one.plan is not plan
        one.offer(plan, D2.slice(number * LAMBDA, LAMBDA))
        one.settle()
    assert looks == [2, 3, 4, 5]


BLOCKS = CompileOptions(exact_bytes=0, block_conjuncts=64, bounded_rows=0, rebuild_share=1.0)
MANY = d1_workload(200, seed=9)


def ids_of_block(plan: Plan, number: int) -> list[str]:
    owners = set(plan.blocks[number].table.owner.tolist()) - {-1}
    return sorted(plan.query_ids[int(plan.ranks[owner])].as_py() for owner in owners)


def test_a_block_that_changed_while_it_was_measured_is_measured_anew(stream: Any) -> None:
    one = stream(compile_plan(MANY.standing_queries(), BLOCKS), mu=0.0)
    others = set(range(1, len(one.plan.blocks)))

    def changed_meanwhile() -> None:
        one.running.replace(change_plan(one.plan, remove=ids_of_block(one.plan, 0)[1:]), one.plan)

    one.running.meanwhile = changed_meanwhile
    one.run(D1.slice(0, 1_000))
    assert {event.block for event in one.monitor.rearrangements} == others
    one.running.meanwhile = lambda: None
    # Its figures are gone, those of the others are not.
    one.run(D1.slice(1_000, 1_000))
    assert [(event.block, event.trigger) for event in one.monitor.rearrangements[len(others) :]] == [(0, "unmeasured")]


def test_blocks_keep_their_figures_when_their_numbers_shift(stream: Any) -> None:
    one = stream(compile_plan(MANY.standing_queries(), BLOCKS))
    one.run(D1.slice(0, 1_000))
    figures = one.monitor.view()["blocks"]
    one.running.replace(change_plan(one.plan, remove=ids_of_block(one.plan, 0)), one.plan)
    assert len(one.plan.blocks) == len(figures) - 1
    one.run(D1.slice(1_000, 10))
    assert one.monitor.view()["blocks"] == figures[1:]


def test_periodic_mode_begins_anew_for_a_block_that_changed(stream: Any) -> None:
    one = stream(mode="periodic", tau_tuples=500)
    one.run(D1.slice(0, 1_000))
    one.run(D1.slice(1_000, 500))
    one.running.replace(change_plan(one.plan, remove=["q000000"]), one.plan)
    one.run(D1.slice(1_500, 1_000))
    for number in range(len(one.plan.blocks[0].slots) - 2):
        assert one.monitor.rearrangements == ()
        one.run(D1.slice(2_500 + 500 * number, 500))
    assert [event.trigger for event in one.monitor.rearrangements] == ["unmeasured"]


def test_batches_that_wait_are_in_the_totals_whatever_becomes_of_them(stream: Any) -> None:
    one = stream(mu=0.0)
    gate = threading.Event()
    one.running.meanwhile = lambda: gate.wait(30)
    one.offer(one.plan, D1.slice(0, 1_000))
    for number in range(100):
        one.offer(one.plan, D1.slice(1_000 + number * 10, 10))
    assert one.monitor.totals.tuples == 2_000
    gate.set()
    one.settle()
    assert len(one.monitor.rearrangements) == 1


def test_it_stops_without_measuring_another_block(stream: Any) -> None:
    one = stream(compile_plan(MANY.standing_queries(), BLOCKS), mu=0.0)
    measured: list[int] = []
    found = one.monitor._search_result

    def stops_after_the_first(number: int, *rest: Any) -> Any:
        result = found(number, *rest)
        if result is not None:
            measured.append(number)
            one.monitor.ask_to_stop()
        return result

    one.monitor._search_result = stops_after_the_first
    one.offer(one.plan, D1.slice(0, 1_000))
    one.monitor._thread.join(30)
    assert not one.monitor._thread.is_alive()
    assert measured == [0]


def test_all_null_and_constant_attributes_are_measured_like_others(stream: Any) -> None:
    one = stream(mu=0.0)
    nothing = pa.table({name: pa.nulls(LAMBDA, pa.int32()) for name in D1.column_names})
    same = pa.table({name: pa.array(np.full(LAMBDA, 7, np.int32)) for name in D1.column_names})
    assert one.run(nothing).dropped == LAMBDA
    one.run(same)
    assert len(one.monitor.rearrangements) == 2


def test_another_plan_of_the_same_version_is_looked_at(stream: Any) -> None:
    one = stream(mu=0.0)
    one.run(D1.slice(0, 1_000))
    # As one that was compiled anew beside the stream.
    one.running.replace(compile_plan(WORKLOAD.standing_queries(), version=one.plan.version))
    one.run(D1.slice(1_000, 1_000))
    assert [event.trigger for event in one.monitor.rearrangements] == ["unmeasured", "unmeasured"]


def test_what_was_measured_of_a_block_is_told_while_it_stays(stream: Any) -> None:
    one = stream(compile_plan(MANY.standing_queries(), BLOCKS))
    assert one.monitor.measured(one.plan.blocks[0]) is None
    one.run(D1.slice(0, 1_000))
    block = one.plan.blocks[1]
    measured = one.monitor.measured(block)
    assert {name: measured[name] for name in ("dropping_ratio", "cost")} == one.monitor.view()["blocks"][1]
    assert [own["construct"] for own in measured["constructs"]] == block.sequence.tolist()
    assert 0 < measured["constructs"][0]["conditional_selectivity"] < 1
    ratios = [own["dropping_ratio"] for own in measured["constructs"]]
    assert ratios == sorted(ratios)
    one.running.replace(change_plan(one.plan, remove=ids_of_block(one.plan, 1)[1:]), one.plan)
    assert one.monitor.measured(one.plan.blocks[1]) is None
