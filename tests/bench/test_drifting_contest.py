"""The contest over a stream that drifts: orders that stay, the broker's monitor without Spark, and fair turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan
from bench.drifting_contest import (
    BEST,
    CONTESTANTS,
    MACRO,
    OFF,
    Batch,
    MonitoredPlan,
    batch_of,
    contest,
    drawn_from,
    fixed_plans,
)
from broker.config.sections import MonitorConfig
from workloads.drifting_tuples import turning
from workloads.placed_alerts import MEASURES, PLACES, placed_alerts

ROWS = 500
SETTINGS = MonitorConfig(lambda_tuples=2 * ROWS, sample_tuples=ROWS, max_core_share=1.0, mu=0.0)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return compile_plan(placed_alerts(200).standing_queries())


@pytest.fixture(scope="module")
def batches(plan: Plan) -> list[Batch]:
    drift = turning(2, measures=MEASURES, places=PLACES)
    return [batch_of(plan, tuples) for tuples in drift.batches(3, ROWS)]


def test_the_whole_stream_is_drawn_from_evenly(batches: list[Batch]) -> None:
    drawn = drawn_from(batches, 100)
    assert {len(column) for column in drawn} == {102}
    assert drawn[0].num_chunks == len(batches)
    assert len(drawn_from(batches[:1], 10 * ROWS)[0]) == ROWS


def test_orders_that_stay_find_the_same(plan: Plan, batches: list[Batch]) -> None:
    plans = fixed_plans(plan, batches[0], drawn_from(batches, 600))
    assert plans[OFF] is plan
    assert {len(match(own, batches[4], ROWS)) for own in plans.values()} == {len(match(plan, batches[4], ROWS))}
    # Calm measures rule out most as the stream begins.
    names = [plan.p_attributes[slot].sql for slot in plans[MACRO].blocks[0].slots.tolist()]
    begin = [names[construct] for construct in plans[MACRO].blocks[0].sequence.tolist()[:4]]
    assert sorted(begin) == [f"a{own}" for own in MEASURES]


def test_every_contestant_runs_every_batch_and_the_monitor_alone_is_charged(
    plan: Plan, batches: list[Batch], tmp_path: Path
) -> None:
    fixed = fixed_plans(plan, batches[0], batches[-1])
    with MonitoredPlan(plan, SETTINGS, tmp_path) as monitored:
        course = contest(fixed, monitored, batches[:1], batches, 2)
        assert monitored.own_s > 0
    assert {name: len(own) for name, own in course.matching_us.items()} == dict.fromkeys(CONTESTANTS, len(batches))
    assert course.tuples == ROWS * len(batches)
    assert course.matches == sum(len(match(plan, batch, ROWS)) for batch in batches)
    plain = course.as_json()
    assert plain["own_us"] > 0
    assert plain["drawing_us"] >= 0
    assert plain["steady_us"] >= 0
    assert len(course.drawing_us) == len(course.steady_us) == len(batches)
    assert set(plain["us"]) == set(CONTESTANTS)


def test_contestants_that_differ_in_their_matches_are_no_result(
    plan: Plan, batches: list[Batch], tmp_path: Path
) -> None:
    fixed = fixed_plans(plan, batches[0], batches[-1])
    attributes = {attribute.sql for attribute in plan.p_attributes}
    other = compile_plan(placed_alerts(200, seed=9).standing_queries())
    assert {attribute.sql for attribute in other.p_attributes} == attributes
    with MonitoredPlan(plan, SETTINGS, tmp_path) as monitored, pytest.raises(RuntimeError, match="orders disagree"):
        contest({**fixed, BEST: other}, monitored, (), batches, 1)
