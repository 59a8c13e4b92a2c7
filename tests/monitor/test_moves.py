"""Moves of one construct at a time: never worse than what they begin with, and none left that helps."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from asc.evaluation.regions import region_ids
from asc.plan.block import Block
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions
from monitor.macro import macro_sequence
from monitor.moves import moved
from monitor.sample import Sample
from monitor.statistics import walked
from workloads.synthetic import d1_workload, non_uniform_tuples

PLAN = compile_plan(d1_workload(60, seed=4).standing_queries(), CompileOptions(exact_bytes=0, block_conjuncts=64))
BLOCK = PLAN.blocks[0]


def sample_of(rows: int, seed: int) -> Sample:
    tuples = non_uniform_tuples(rows, seed=seed)
    return Sample.of(BLOCK, region_ids(PLAN, [tuples[own.sql] for own in PLAN.p_attributes], rows))


def cost(block: Block, sample: Sample, sequence: tuple[int, ...]) -> int:
    return walked(block, sample, block.order_of(sequence)).evaluated


@pytest.mark.parametrize("seed", range(6))
def test_no_move_is_left_that_helps(seed: int) -> None:
    sample = sample_of(200, seed)
    start = macro_sequence(BLOCK, sample).sequence
    best, worst = moved(BLOCK, sample, start, work=None), moved(BLOCK, sample, start, raises=True, work=None)
    assert sorted(best) == sorted(worst) == sorted(start)
    assert cost(BLOCK, sample, best) <= cost(BLOCK, sample, start) <= cost(BLOCK, sample, worst)
    for found, sign in ((best, 1), (worst, -1)):
        reached = cost(BLOCK, sample, found)
        for construct in found:
            rest = [own for own in found if own != construct]
            for place in range(len(found)):
                other = (*rest[:place], construct, *rest[place:])
                assert sign * cost(BLOCK, sample, other) >= sign * reached


def test_it_ends_where_the_work_would_be_too_much() -> None:
    sample = sample_of(200, 1)
    start = tuple(np.arange(len(BLOCK.slots))[::-1].tolist())
    assert moved(BLOCK, sample, start, work=0) == start
    costs = [cost(BLOCK, sample, moved(BLOCK, sample, start, work=work)) for work in (0, 1 << 17, 1 << 20, 1 << 30)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_of_few_constructs_it_finds_about_the_best() -> None:
    plans = (compile_plan(d1_workload(2, seed=seed).standing_queries()) for seed in range(100))
    plan = next(plan for plan in plans if 4 <= len(plan.blocks[0].slots) <= 6)
    block = plan.blocks[0]
    tuples = non_uniform_tuples(100, seed=2)
    sample = Sample.of(block, region_ids(plan, [tuples[own.sql] for own in plan.p_attributes], 100))
    least = min(cost(block, sample, order) for order in permutations(range(len(block.slots))))
    assert cost(block, sample, moved(block, sample, range(len(block.slots)), work=None)) <= least * 1.1


def test_the_first_tuples_of_a_sample_are_a_sample_like_others() -> None:
    sample = sample_of(200, 3)
    first = sample.first(50)
    assert (len(first), sample.first(200)) == (50, sample)
    assert first.regions.tolist() == sample.regions[:, :50].tolist()
    assert (first.regions.flags.c_contiguous, first.regions.flags.writeable) == (True, False)
