"""The data sets and their predicate sets: as many rows and attributes as asked for, and what they realised."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from asc.errors import AscError
from bench.datasets import D1, D2, D3, Q1, Q2, DataSet, check_scale, with_concentration, with_queries
from workloads.predicate_sets import PredicateShape

SHAPE = PredicateShape(queries=40, predicates=(2, 3), widest=0.4)


@pytest.mark.parametrize("data", [D1, D2, D3], ids=lambda data: data.name)
def test_a_stream_is_as_large_as_asked_for(data: DataSet) -> None:
    stream, came_out = data.stream(SHAPE, rows=500, attributes=5, seed=3)
    assert len(stream) == came_out["tuples"] == 500
    assert len(stream.block.slots) == came_out["p_attributes"] == came_out["attributes"] == 5
    assert (came_out["queries"], came_out["conjuncts"]) == (40, 40)
    assert 2 <= came_out["predicates_a_query"] <= 3


@pytest.mark.parametrize("data", [D1, D2, D3], ids=lambda data: data.name)
def test_the_seed_makes_the_tuples_but_of_the_census(data: DataSet) -> None:
    first, same, other = (data.tuples(200, 4, seed) for seed in (1, 1, 2))
    assert first.equals(same)
    assert first.equals(other) == (data is D3)


def test_a_share_of_the_rows_is_3000_at_least() -> None:
    assert [D3.rows_of(scale) for scale in (1, 0.5, 1e-9)] == [199_523, 99_762, 3_000]


def test_shapes_differ_in_what_was_asked_for_alone() -> None:
    assert with_queries(Q1, None) is Q1
    assert with_queries(Q1, 7) == replace(Q1, queries=7)
    assert with_concentration(Q2, 0.5) == replace(Q2, concentration=0.5)


@pytest.mark.parametrize("scale", [0, -0.1, 1.01, math.nan, math.inf])
def test_a_share_that_cannot_be_is_refused(scale: float) -> None:
    with pytest.raises(AscError, match="scale"):
        check_scale(scale)


@pytest.mark.parametrize("scale", [1e-9, 0.5, 1])
def test_a_share_that_can_be_is_not(scale: float) -> None:
    check_scale(scale)
