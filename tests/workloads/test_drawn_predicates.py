"""The drawn workload says the same in SQL, in normal form and in codes, and asks for what tuples have."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from asc.predicate import normalise
from asc.schema import Schema
from bench.brute_force import early_exit_lists
from workloads.drawn_predicates import FEW_VALUES, NULL_CODE, CodedColumn, DrawnWorkload, coded, drawn_workload
from workloads.errors import WorkloadError
from workloads.real_data import flight_tuples, survey_tuples


def shares() -> pa.Table:
    """Doubles of many and of few values, with NULLs; a column without a difference; a text with a quote."""
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "x": pa.array(rng.standard_normal(500), mask=rng.random(500) < 0.2),
            "rate": pa.array(rng.integers(0, 20, 500) / 20),
            "same": pa.array([7] * 500, pa.int32()),
            "name": pa.array(rng.choice(["it's", "Łódź", ""], 500).tolist(), mask=rng.random(500) < 0.2),
        }
    )


TABLES = {"flights": flight_tuples, "census": survey_tuples, "shares": shares}


@pytest.fixture(scope="module", params=TABLES)
def columns(request: pytest.FixtureRequest) -> tuple[CodedColumn, ...]:
    return coded(TABLES[request.param]())


def test_texts_are_the_normal_form(columns: tuple[CodedColumn, ...]) -> None:
    workload = drawn_workload(columns, 300)
    schema = Schema.from_arrow(workload.schema())
    for text, query in zip(workload.texts(), workload.standing_queries(), strict=True):
        (conjunct,) = normalise(text, schema).conjuncts
        (expected,) = query.predicate.conjuncts
        assert dict(conjunct) == dict(expected), text


def test_codes_say_the_same(columns: tuple[CodedColumn, ...]) -> None:
    workload = drawn_workload(columns, 400)
    tuples, codes = workload.tuples(200)
    plan = compile_plan(workload.standing_queries())
    starts = np.searchsorted(workload.owner, np.arange(workload.queries + 1))
    ranges = (workload.attribute, workload.first, workload.low, workload.high)
    found = match(plan, [tuples[own.sql] for own in plan.p_attributes], 200)
    assert len(found) == early_exit_lists(codes, starts, ranges) > 0


def test_its_shape(columns: tuple[CodedColumn, ...]) -> None:
    workload = drawn_workload(columns, 2_000)
    sizes = np.diff(np.searchsorted(workload.owner, np.arange(workload.queries + 1)))
    assert (sizes.min(), sizes.max()) == (2, min(5, len(columns)))
    ranges = np.diff(workload.first)
    listed = np.array([each.is_listed for each in columns])[workload.attribute]
    assert 1 < ranges.max() <= 6
    assert (ranges[~listed] == 1).all()
    assert all((np.diff(workload.low[first:last]) > 0).all() for first, last in pairwise(workload.first))
    # NULL is asked for alone, and no range begins with it.
    assert (workload.high[workload.low == NULL_CODE] == NULL_CODE).all()
    assert ((workload.low == NULL_CODE).any()) == any((each.codes == NULL_CODE).any() for each in columns)


def test_each_query_accepts_a_recorded_tuple() -> None:
    tuples = shares()
    workload = drawn_workload(coded(tuples), 300)
    plan = compile_plan(workload.standing_queries())
    found = match(plan, [tuples[own.sql] for own in plan.p_attributes], tuples.num_rows)
    assert len(np.unique(found.queries)) == 300


@pytest.mark.parametrize(("queries", "least", "most"), [(2_000, 0.002, 0.02)])
def test_few_of_a_hundred_flights_queries_accept_a_tuple(queries: int, least: float, most: float) -> None:
    workload = drawn_workload(coded(flight_tuples()), queries)
    tuples, _ = workload.tuples(2_000)
    plan = compile_plan(workload.standing_queries())
    found = match(plan, [tuples[own.sql] for own in plan.p_attributes], 2_000)
    assert least < len(found) / 2_000 / queries < most


def values(column: CodedColumn) -> list[Any]:
    return [None if code == NULL_CODE else column.values[code].as_py() for code in column.codes.tolist()]


def test_codes_are_ranks_and_a_constant_column_has_none() -> None:
    tuples = shares()
    columns = coded(tuples)
    assert [column.name for column in columns] == ["x", "rate", "name"]
    for column in columns:
        assert values(column) == tuples[column.name].to_pylist()
        own = column.values.to_pylist()
        assert own == sorted(set(own))
    assert [column.is_listed for column in columns] == [False, True, True]
    assert len(columns[0].values) >= FEW_VALUES > len(columns[1].values)
    assert columns[0].counts()[0] == tuples["x"].null_count


def test_tuples_are_recorded_ones_and_more_than_there_are() -> None:
    workload = drawn_workload(coded(shares()), 10)
    recorded = {tuple(row.values()) for row in shares().select(["x", "rate", "name"]).to_pylist()}
    for rows in (100, 700):
        drawn, codes = workload.tuples(rows)
        assert (drawn.num_rows, codes.shape, codes.dtype) == (rows, (3, rows), np.int32)
        assert {tuple(row.values()) for row in drawn.to_pylist()} <= recorded


def test_a_seed_makes_the_same_again() -> None:
    columns = coded(shares())

    def made(seed: int) -> DrawnWorkload:
        return drawn_workload(columns, 50, seed=seed)

    assert made(3).texts() == made(3).texts() != made(4).texts()
    assert made(3).tuples(20)[0].equals(made(3).tuples(20)[0])


def test_one_column_is_too_few() -> None:
    with pytest.raises(WorkloadError, match="at least 2 that differ"):
        drawn_workload(coded(shares().select(["x", "same"])), 10)
