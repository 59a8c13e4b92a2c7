"""Micro-arrows that are kept, against trying each on the whole sample."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from asc.evaluation.regions import region_ids
from asc.plan.block import Block
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions
from monitor.hybrid import HybridSequence, MicroArrow, hybrid_sequence
from monitor.macro import macro_sequence
from monitor.refinement import refined
from monitor.sample import Sample
from monitor.statistics import walked
from workloads.synthetic import d1_workload, non_uniform_tuples

BOUNDED = CompileOptions(exact_bytes=0, exact_regions=4, bounded_regions=8, bounded_rows=0, block_conjuncts=64)


def problem(
    queries: int, options: CompileOptions | None = None, *, tuples: int = 1_000, known: int = 20
) -> tuple[Block, Sample]:
    """A block and a sample in which one value of twelve is NULL and some p-attributes may not be known."""
    plan = compile_plan(d1_workload(queries, seed=queries).standing_queries(), options)
    table = non_uniform_tuples(tuples, seed=queries)
    nulls = np.random.default_rng(queries).random((20, tuples)) < 1 / 12
    columns = [
        pa.array(table[attribute.sql].to_numpy(), mask=nulls[slot]) if slot < known else None
        for slot, attribute in enumerate(plan.p_attributes)
    ]
    block = plan.blocks[0]
    return block, Sample.of(block, region_ids(plan, columns, tuples), set(range(known)))


def naive(block: Block, sample: Sample, found: HybridSequence) -> list[MicroArrow]:
    sequence, kept = found.order.sequence.tolist(), list[MicroArrow]()
    least = walked(block, sample, found.order.macro).evaluated
    for arrow in found.micro_arrows:
        tried = HybridSequence.of(block, sequence, [*kept, arrow])
        evaluated = walked(block, sample, tried.order).evaluated
        if evaluated < least:
            kept, least = [*kept, arrow], evaluated
    return kept


@pytest.mark.parametrize("queries", [8, 12, 30, 90])
@pytest.mark.parametrize("options", [None, BOUNDED], ids=["exact", "bounded"])
@pytest.mark.parametrize("known", [20, 15])
def test_kept_is_what_lowers_the_cost_of_the_whole_sample(
    queries: int, options: CompileOptions | None, known: int
) -> None:
    block, sample = problem(queries, options, known=known)
    found = hybrid_sequence(block, sample, macro_sequence(block, sample).sequence, min_visitors=5)
    kept = refined(block, sample, found)
    assert kept.order.sequence.tolist() == found.order.sequence.tolist()
    assert list(kept.micro_arrows) == naive(block, sample, found)
    macro = walked(block, sample, found.order.macro).cost
    cost = walked(block, sample, kept.order).cost
    assert cost < macro if kept.micro_arrows else cost == macro


def test_micro_arrows_that_cost_more_than_they_save_are_left_out() -> None:
    block, sample = problem(90, tuples=5_000)
    found = hybrid_sequence(block, sample, macro_sequence(block, sample).sequence)
    kept = refined(block, sample, found)
    assert 0 < len(kept.micro_arrows) < len(found.micro_arrows)
    costs = [walked(block, sample, order).cost for order in (kept.order, found.order.macro, found.order)]
    assert costs[0] < costs[1] < costs[2]


def test_without_micro_arrows_there_is_nothing_to_keep() -> None:
    block, sample = problem(10)
    bare = HybridSequence.of(block, macro_sequence(block, sample).sequence, ())
    kept = refined(block, sample, bare)
    assert kept.micro_arrows == ()
    assert kept.order.sequence.tolist() == bare.order.sequence.tolist()
