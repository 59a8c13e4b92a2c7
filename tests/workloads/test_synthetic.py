"""Synthetic workloads: reproducible, and the same as text and in normal form."""

from __future__ import annotations

import numpy as np

from asc.predicate import normalise
from asc.schema import Schema
from workloads.synthetic import d1_workload, hem_workload, non_uniform_tuples, uniform_tuples


def test_text_and_normal_form_say_the_same() -> None:
    for workload in (d1_workload(50), hem_workload(20)):
        schema = Schema.from_arrow(workload.schema())
        for text, query in zip(workload.texts(), workload.standing_queries(), strict=True):
            (conjunct,) = normalise(text, schema).conjuncts
            assert dict(conjunct) == dict(query.predicate.conjuncts[0])


def test_shapes() -> None:
    d1 = d1_workload(500)
    counts = np.bincount(d1.owner)
    assert (d1.queries, counts.min(), counts.max()) == (500, 3, 6)
    assert d1.low.min() >= 0
    assert d1.high.max() <= 99
    hem = hem_workload(100)
    assert set(np.bincount(hem.owner)) == {10}
    assert set(hem.high - hem.low + 1) == {400_000}


def test_the_same_seed_gives_the_same() -> None:
    assert d1_workload(30, seed=7).texts() == d1_workload(30, seed=7).texts()
    assert d1_workload(30, seed=7).texts() != d1_workload(30, seed=8).texts()
    assert uniform_tuples(100, seed=3).equals(uniform_tuples(100, seed=3))
    assert non_uniform_tuples(100, seed=3).equals(non_uniform_tuples(100, seed=3))


def test_tuples_stay_in_the_domain() -> None:
    for table in (uniform_tuples(2_000), non_uniform_tuples(2_000)):
        values = np.stack([column.to_numpy() for column in table.columns])
        assert values.shape == (20, 2_000)
        assert values.min() >= 0
        assert values.max() <= 99
    assert np.ptp(np.stack([c.to_numpy() for c in non_uniform_tuples(2_000).columns]).mean(axis=1)) > 20
