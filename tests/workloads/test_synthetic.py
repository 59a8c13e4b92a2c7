"""Synthetic workloads: reproducible, and the same as text and in normal form."""

from __future__ import annotations

import numpy as np

from asc.predicate import normalise
from asc.schema import Schema
from workloads.streams import realised_tuples
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


def test_uniform_tuples_are_even_and_independent() -> None:
    found = realised_tuples(uniform_tuples(20_000))
    assert 0.1 <= found.top_tenth <= 0.12
    assert found.strongest < 0.04


def test_non_uniform_tuples_are_skewed_and_correlated_in_groups() -> None:
    table = non_uniform_tuples(20_000)
    found = realised_tuples(table)
    assert found.top_tenth > 0.3
    values = np.stack([column.to_numpy() for column in table.columns])
    related = np.abs(np.corrcoef(values)) > 0.3
    expected = np.kron(np.eye(4), np.ones((5, 5))) > 0
    assert (related == expected).all()
    assert np.ptp(values.mean(axis=1)) > 20


def test_another_start_gives_other_tuples_of_the_same_distribution() -> None:
    first, second = non_uniform_tuples(20_000), non_uniform_tuples(20_000, start=20_000)
    assert not first.equals(second)
    means = [np.array([column.to_numpy().mean() for column in table.columns]) for table in (first, second)]
    assert np.abs(means[0] - means[1]).max() < 1
