"""The compiled loops of measuring, on samples small enough to count by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from monitor.sample_kernels import drop_by_each, walk_sample

if TYPE_CHECKING:
    from conftest import Sampled

    from asc.plan.plan import Plan


def test_a_walk_counts_each_tuples_constructs(three: Plan, sampled: Sampled) -> None:
    """B rules both conjuncts out where it is 0; where it is 9 the others are asked as well."""
    block, sample = sampled(three, [9, 0, 9], [0, 9, 9], [9, 0, 9])
    geb, grb = np.empty(3, dtype=np.int64), np.empty(1, dtype=np.uint64)
    costs = np.empty(3, dtype=np.uint16)
    sequence, arrows = np.array([1, 0, 2], dtype=np.int32), np.empty(0, dtype=np.int32)
    found = walk_sample(sample.arguments(block), sequence, arrows, geb, grb, costs)
    assert found == (2, 0)
    assert costs.tolist() == [1, 3, 3]


def test_tuples_dropped_by_a_prefix_are_dropped_with_any_candidate(three: Plan, sampled: Sampled) -> None:
    block, sample = sampled(three, [9, 0, 9], [0, 9, 9], [9, 0, 9])
    prefix, candidates = np.array([1, 0]), np.array([2])
    dropped, grb = np.zeros(1, dtype=np.int64), np.empty(1, dtype=np.uint64)
    by_prefix = drop_by_each(sample.arguments(block), prefix, candidates, grb, dropped)
    assert (by_prefix, dropped.tolist()) == (1, [2])
