"""The mixed workload says the same in SQL, in normal form and in codes, and is what it promises to be."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from asc.predicate import normalise
from asc.schema import Schema
from workloads.mixed import ZIPF_VALUES, mixed_workload


def test_texts_are_the_normal_form() -> None:
    workload = mixed_workload(200)
    schema = Schema.from_arrow(workload.schema())
    for text, query in zip(workload.texts(), workload.standing_queries(), strict=True):
        (conjunct,) = normalise(text, schema).conjuncts
        (expected,) = query.predicate.conjuncts
        assert dict(conjunct) == dict(expected)


def test_its_shape() -> None:
    workload = mixed_workload(4_000)
    sizes = np.diff(np.searchsorted(workload.owner, np.arange(workload.queries + 1)))
    assert (sizes.min(), sizes.max()) == (2, 5)
    ranges = np.diff(workload.first)
    numbers = np.array([each.values is None for each in workload.attributes])[workload.attribute]
    assert ranges.max() == 8
    assert abs(numbers.mean() - 0.31) < 0.04
    assert abs((ranges > 1).mean() - 0.27) < 0.04
    assert all((np.diff(workload.low[first:last]) > 0).all() for first, last in pairwise(workload.first))


def test_a_tuple_is_accepted_by_some_of_a_hundred_queries() -> None:
    workload = mixed_workload(2_000)
    tuples, codes = workload.tuples(4_000)
    assert codes.shape == (20, 4_000)
    assert len(np.unique(codes[0])) == ZIPF_VALUES[0]
    plan = compile_plan(workload.standing_queries())
    found = match(plan, [tuples[each.sql] for each in plan.p_attributes], 4_000)
    assert 0.005 < len(found) / 4_000 / 2_000 < 0.012


def test_a_seed_makes_the_same_again() -> None:
    first, second = mixed_workload(50, seed=3), mixed_workload(50, seed=3)
    assert first.texts() == second.texts() != mixed_workload(50, seed=4).texts()
    assert first.tuples(20)[0].equals(second.tuples(20)[0])
