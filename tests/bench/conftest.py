"""Small streams for the tests of the experiments."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.stream import Stream
from workloads.predicate_sets import PredicateShape, evenly, predicate_set
from workloads.synthetic import non_uniform_tuples, synthetic_columns


@pytest.fixture
def small_stream() -> Callable[..., Stream]:
    """A stream of skewed, correlated tuples under conjunctive predicates."""

    def make(
        attributes: int, *, queries: int = 10, tuples: int = 300, predicates: tuple[int, int] = (2, 3), seed: int = 1
    ) -> Stream:
        most = min(attributes, predicates[1])
        shape = PredicateShape(queries, (min(most, predicates[0]), most), 0.3)
        names, _ = synthetic_columns(attributes, 20)
        workload = predicate_set(shape, names, evenly(attributes, 20), seed=seed)
        return Stream.of(workload, non_uniform_tuples(tuples, attributes=attributes, domain=20, seed=seed))

    return make
