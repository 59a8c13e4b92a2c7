"""The sequence found for a block: it changes no match, and the one that was faster is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.evaluation.executor import Matches, match
from asc.plan.block import Block
from asc.plan.compiler import compile_plan
from asc.plan.order import Order
from asc.plan.plan import CompileOptions, Plan
from broker.monitoring.arrangement import SampledTuples, arranged
from monitor.macro import macro_sequence
from monitor.moves import moved
from monitor.statistics import walked
from workloads.drifting_tuples import turning
from workloads.placed_alerts import MEASURES, PLACES, placed_alerts
from workloads.synthetic import d1_workload, non_uniform_tuples

BLOCKS = CompileOptions(exact_bytes=0, block_conjuncts=64, bounded_rows=0)
PLAN = compile_plan(d1_workload(120, seed=9).standing_queries(), BLOCKS)
TUPLES = non_uniform_tuples(800, seed=3)


def sampled(plan: Plan = PLAN, unknown: Sequence[int] = (), rows: int = 800) -> SampledTuples:
    """Tuples of which the values of some slots are not known."""
    columns = [TUPLES[attribute.sql].slice(0, rows) for attribute in plan.p_attributes]
    return SampledTuples.of(plan, [None if i in unknown else column for i, column in enumerate(columns)], rows)


def evaluated_by(tuples: SampledTuples, block: Block) -> Matches:
    """What the executor finds in one block, the values that are not known being NULL."""
    columns = [
        pa.nulls(tuples.rows, attribute.type) if column is None else column
        for attribute, column in zip(tuples.plan.p_attributes, tuples.columns, strict=True)
    ]
    return match(replace(tuples.plan, blocks=(block,)), columns, tuples.rows)


@pytest.mark.parametrize("number", range(len(PLAN.blocks)))
def test_an_arrangement_is_the_sequence_or_a_better_one_over_it_and_why(number: int) -> None:
    tuples, block = sampled(), PLAN.blocks[number]
    sample = tuples.sample(block)
    sequence = macro_sequence(block, sample).sequence
    found = arranged(block, sample, tuples, sequence)
    improved = list(moved(block, sample, sequence))
    assert found.order.macro.sequence.tolist() == (block.sequence.tolist() if found.kind == "kept" else improved)
    assert found.cost_before == walked(block, sample, block.order).cost
    assert found.cost_after == walked(block, sample, found.order).cost
    times = {"kept": found.kept_us, "macro": found.macro_us, "hybrid": found.hybrid_us}
    assert times[found.kind] == min(us for us in times.values() if us is not None)
    assert (found.order.arrow_count > 0) == (found.kind == "hybrid")
    counted = evaluated_by(tuples, block.with_order(found.order))
    assert found.counted_cost == counted.evaluated / 800


def test_what_is_slower_than_what_runs_is_not_put_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    tuples, block = sampled(), PLAN.blocks[0]
    sample = tuples.sample(block)
    sequence = macro_sequence(block, sample).sequence
    best = block.with_order(arranged(block, sample, tuples, sequence).order)

    # What is faster does not hang on the machine here: each construct takes a second.
    def by_constructs(_: SampledTuples, blocks: Sequence[Block]) -> tuple[list[float], list[int]]:
        costs = [walked(own, sample, own.order).cost for own in blocks]
        return costs, [round(cost * len(sample)) for cost in costs]

    monkeypatch.setattr(SampledTuples, "timed", by_constructs)
    found = arranged(best, sample, tuples, sequence[::-1])
    assert found.cost_after <= found.cost_before
    again = arranged(best.with_order(found.order), sample, tuples, sequence)
    assert again.cost_after <= again.cost_before
    kept = arranged(best.with_order(again.order), sample, tuples, again.order.sequence.tolist())
    assert (kept.kind, kept.order) == ("kept", again.order)


def test_an_order_that_takes_much_longer_is_replaced() -> None:
    """By the clock, which has milliseconds to tell: while there is alarm the places rule everything out, the measures
    nothing, and it takes four times as long to come to the places last.
    """
    queries = placed_alerts(1_000, attributes=40, domain=1_000)
    drift = turning(1, measures=MEASURES, places=PLACES, attributes=40)
    plan = compile_plan(queries.standing_queries())
    alarmed = drift.tuples(1, 20_000, domain=1_000, random=np.random.default_rng(1))
    tuples = SampledTuples.of(plan, [alarmed[attribute.sql] for attribute in plan.p_attributes], 20_000)
    (block,) = plan.blocks
    sample = tuples.sample(block)
    names = [plan.p_attributes[slot].sql for slot in block.slots]
    last = [names.index(f"a{place}") for place in PLACES]
    places_last = [own for own in range(len(names)) if own not in last] + last
    slow = Order.of(block.bases, len(block.matrix), places_last)
    found = arranged(block.with_order(slow), sample, tuples, macro_sequence(block, sample).sequence)
    assert found.kind != "kept"
    assert found.cost_before > 35
    assert found.cost_after < 8


def test_whatever_the_order_the_block_finds_the_same() -> None:
    tuples = sampled()
    for block in PLAN.blocks:
        before = evaluated_by(tuples, block)
        sample = tuples.sample(block)
        found = arranged(block, sample, tuples, macro_sequence(block, sample).sequence)
        after = evaluated_by(tuples, block.with_order(found.order))
        assert sorted(zip(after.rows.tolist(), after.queries.tolist(), strict=True)) == sorted(
            zip(before.rows.tolist(), before.queries.tolist(), strict=True)
        )


@settings(max_examples=20, deadline=None)
@given(st.sets(st.integers(0, len(PLAN.p_attributes) - 1), min_size=1))
def test_what_was_not_drawn_is_null_in_the_executor_and_nothing_in_the_sample(unknown: set[int]) -> None:
    tuples = sampled(unknown=sorted(unknown), rows=50)
    nothing = [
        pa.nulls(50, attribute.type) if i in unknown else TUPLES[attribute.sql].slice(0, 50)
        for i, attribute in enumerate(PLAN.p_attributes)
    ]
    whole = match(PLAN, nothing, 50)
    for number, block in enumerate(PLAN.blocks):
        known = tuples.sample(block).known
        assert [slot for i, slot in enumerate(block.slots.tolist()) if i not in known] == sorted(
            unknown & set(block.slots.tolist()), key=block.slots.tolist().index
        )
        assert evaluated_by(tuples, block).dropped == int(whole.block_dropped[number])


def test_a_cost_is_counted_only_where_every_value_of_the_block_is_known() -> None:
    block = PLAN.blocks[0]
    slot = int(block.slots[0])
    tuples = sampled(unknown=[slot])
    sample = tuples.sample(block)
    found = arranged(block, sample, tuples, block.sequence.tolist())
    assert found.counted_cost is None
    assert np.isfinite(found.macro_us)
    assert len(sample) == 800
