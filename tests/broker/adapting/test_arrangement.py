"""The sequence found for a block: it changes no match, and the one that was faster is chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Plan
from broker.adapting.arrangement import SampledTuples, arranged
from monitor.macro import macro_sequence
from monitor.statistics import walked
from workloads.synthetic import d1_workload, non_uniform_tuples

BLOCKS = CompileOptions(exact_bytes=0, block_conjuncts=64, bounded_rows=0)
PLAN = compile_plan(d1_workload(120, seed=9).standing_queries(), BLOCKS)
TUPLES = non_uniform_tuples(800, seed=3)


def sampled(plan: Plan = PLAN, unknown: Sequence[int] = (), rows: int = 800) -> SampledTuples:
    """Tuples of which the values of some slots are not known."""
    columns = [TUPLES[attribute.sql].slice(0, rows) for attribute in plan.p_attributes]
    return SampledTuples.of(plan, [None if i in unknown else column for i, column in enumerate(columns)], rows)


@pytest.mark.parametrize("number", range(len(PLAN.blocks)))
def test_an_arrangement_is_the_sequence_or_a_better_one_over_it_and_why(number: int) -> None:
    tuples, block = sampled(), PLAN.blocks[number]
    sample = tuples.sample(block)
    sequence = macro_sequence(block, sample).sequence
    found = arranged(block, sample, tuples, sequence)
    assert found.order.macro.sequence.tolist() == list(sequence)
    assert found.cost_before == walked(block, sample, block.order).cost
    assert found.cost_after == walked(block, sample, found.order).cost
    if found.kind == "hybrid":
        assert found.hybrid_us is not None
        assert found.hybrid_us < found.macro_us
        assert found.order.arrow_count > 0
    else:
        assert found.hybrid_us is None or found.macro_us <= found.hybrid_us
        assert found.order.arrow_count == 0
    counted = tuples.evaluated_by(block.with_order(found.order))
    assert found.counted_cost == counted.evaluated / 800


def test_whatever_the_order_the_block_finds_the_same() -> None:
    tuples = sampled()
    for block in PLAN.blocks:
        before = tuples.evaluated_by(block)
        sample = tuples.sample(block)
        found = arranged(block, sample, tuples, macro_sequence(block, sample).sequence)
        after = tuples.evaluated_by(block.with_order(found.order))
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
        assert tuples.evaluated_by(block).dropped == int(whole.block_dropped[number])


def test_a_cost_is_counted_only_where_every_value_of_the_block_is_known() -> None:
    block = PLAN.blocks[0]
    slot = int(block.slots[0])
    tuples = sampled(unknown=[slot])
    sample = tuples.sample(block)
    found = arranged(block, sample, tuples, block.sequence.tolist())
    assert found.counted_cost is None
    assert np.isfinite(found.macro_us)
    assert len(sample) == 800
