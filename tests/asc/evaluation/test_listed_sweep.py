"""Listed blocks beside bitmaps, over changes and travels: against shapely and a loop in Python, and the reference."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from asc.evaluation.executor import match, match_within
from asc.evaluation.reference import accepted_by
from asc.plan.compiler import change_plan, compile_plan, renewed
from asc.plan.parts import Part, parts_of, plan_of
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from asc.spatial.search import ENTRIES
from workloads.drawn_fences import SCHEMA, Drawn, accepted, columns_of


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("exact_bytes", [1, 1 << 20])
def test_what_is_accepted_is_what_shapely_says_whatever_became_of_the_plan(seed: int, exact_bytes: int) -> None:
    drawn = Drawn(seed)
    standing = {f"q{n:03}": drawn.predicate() for n in range(90)}
    table = drawn.rows(60)
    rows = table.to_pylist()

    def check(plan: Plan) -> None:
        expected = [sorted(i for i, asks in standing.items() if asks.of(row) is True) for row in rows]
        assert accepted(plan, table) == expected

    def query(query_id: str) -> Query:
        return Query(query_id, normalise(standing[query_id].sql, SCHEMA))

    plan = compile_plan(map(query, standing), CompileOptions(exact_bytes=exact_bytes))
    assert plan.listed
    assert plan.blocks
    check(plan)
    for step in range(4):
        added = {f"n{step}{n:02}": drawn.predicate() for n in range(int(drawn.random.integers(1, 12)))}
        replaced = {i: drawn.predicate() for i in standing if drawn.random.random() < 0.03}
        gone = [i for i in standing if i not in replaced and drawn.random.random() < 0.08]
        for one in gone:
            del standing[one]
        standing.update(added | replaced)
        plan = change_plan(plan, map(query, added | replaced), gone)
        check(plan)
    before = parts_of(plan)
    check(plan_of([Part.from_bytes(part.to_bytes()) for part in before]))
    assert plan.conjunct_count == sum(len(normalise(asks.sql, SCHEMA).conjuncts) for asks in standing.values())
    plan = renewed(plan)
    check(plan)
    columns = columns_of(plan, table)
    for row in range(0, 60, 7):
        keys = [own.key_of(column[row]) for own, column in zip(plan.p_attributes, columns, strict=True)]
        assert accepted_by(plan, keys) == accepted(plan, table)[row]


def test_more_fences_around_a_position_than_are_looked_at_together() -> None:
    """Crowds, and positions beside, between and after them."""
    schema = Schema.from_ddl("lon DOUBLE, lat DOUBLE, n INT")
    many = 3 * ENTRIES
    texts = [f"ST_Contains(ST_PolygonFromEnvelope(0, 0, {1 + i * 1e-7!r}, 1), ST_Point(lon, lat))" for i in range(many)]
    texts += ["ST_Contains(ST_PolygonFromEnvelope(4, 4, 5, 5), ST_Point(lon, lat)) AND n > 1"]
    queries = [Query(f"q{i:05}", normalise(text, schema)) for i, text in enumerate(texts)]
    plan = compile_plan(queries)
    lon, lat = [-1.0, 0.5, 0.5, 2.0, 4.5, 4.5, 0.6], [0.5, 0.5, 0.6, 2.0, 4.5, 4.5, 0.6]
    of = {True: pa.array([1, 1, 1, 1, 1, 2, 1], pa.int32())}
    point = next(own for own in plan.p_attributes if own.is_point)
    of[False] = pa.StructArray.from_arrays([pa.array(lon), pa.array(lat)], fields=list(point.type))
    columns = [of[not own.is_point] for own in plan.p_attributes]
    found = match(plan, columns, 7)
    assert np.bincount(found.rows, minlength=7).tolist() == [0, many, many, 0, 0, 1, many]
    few = match_within(plan, columns, 7, many + 10)
    assert np.bincount(few.rows, minlength=few.tuples).tolist() == [0, many, many, 0, 0, 1, many][: few.tuples]
    assert 1 <= few.tuples <= 3


def test_many_positions_in_one_batch_and_none() -> None:
    plan = compile_plan(
        [Query("q", normalise("ST_Contains(ST_PolygonFromEnvelope(0, 0, 4, 4), ST_Point(lon, lat))", SCHEMA))]
    )

    def matched(lon: npt.NDArray[np.float64]) -> list[int]:
        column = pa.StructArray.from_arrays(
            [pa.array(lon), pa.array(np.ones(len(lon)))], fields=list(plan.p_attributes[0].type)
        )
        return match(plan, [column], len(lon)).rows.tolist()

    lon = np.random.default_rng(0).uniform(-5, 5, 200_000)
    assert matched(lon) == np.flatnonzero((lon > 0) & (lon < 4)).tolist()
    assert matched(lon[:0]) == []
