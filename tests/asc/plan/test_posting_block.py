"""Listed blocks over changes: what is made anew, what is shared, what is left out."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
import shapely

from asc.plan.compiler import change_plan, compile_plan
from asc.plan.parts import Part, parts_of, plan_of
from asc.plan.plan import CompileOptions, Query
from asc.plan.posting_block import ListedBlock, listed_under, merged
from asc.predicate import Limits, normalise
from workloads.drawn_fences import SCHEMA, Drawn, accepted

SQUARE = "ST_PolygonFromEnvelope(0, 0, 4, 4)"


def test_a_change_ships_no_more_than_the_small_block_it_is_in() -> None:
    drawn = Drawn(11)
    queries = []
    while len(queries) < 2_100:
        shape = drawn.shape()
        where = f"ST_Contains(ST_GeomFromText('{shapely.to_wkt(shape)}'), ST_Point(lon, lat))"
        queries.append(Query(f"q{len(queries):05}", normalise(where, SCHEMA)))
    plan = compile_plan(queries[:-20])
    known = parts_of(plan)
    for query in queries[-20:]:
        plan = change_plan(plan, [query])
    assert [len(block) for block in plan.listed] == [2_080, 20]
    new = [part for part in parts_of(plan, known) if part not in known]
    assert {part.kind for part in new} == {"head", "listed", "ids"}
    assert next(part for part in new if part.kind == "listed").nbytes < known[-3].nbytes / 20 + 40_000
    gone = change_plan(plan, remove=[queries[3].id])
    assert all(own is block for own, block in zip(gone.listed, plan.listed, strict=True))
    assert queries[3].id not in {i for ids in accepted(gone, drawn.rows(30)) for i in ids}


def test_a_plan_of_fences_is_renewed_when_most_of_it_is_gone() -> None:
    def fence(number: int) -> Query:
        low = number % 50
        where = f"ST_Contains(ST_PolygonFromEnvelope({low}, 0, {low + 1}, {1 + number % 40}), ST_Point(lon, lat))"
        return Query(f"q{number:04}", normalise(where, SCHEMA))

    plan = compile_plan(map(fence, range(400)))
    for number in range(390):
        plan = change_plan(plan, remove=[f"q{number:04}"])
    assert len(plan) == 10
    assert sum(map(len, plan.listed)) <= 20
    assert len(plan.ranks) <= 30


def test_a_large_shape_is_not_laid_out_anew_for_a_small_one_beside_it() -> None:
    angle = np.linspace(0, 2 * math.pi, 800, endpoint=False)
    spikes = shapely.Polygon(
        np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(np.arange(800) % 2, 5, 1)[:, None]
    )
    large = [
        Query(
            f"l{n}",
            normalise(
                f"ST_Contains(ST_GeomFromText('{shapely.to_wkt(spikes, rounding_precision=n)}'), ST_Point(lon, lat))",
                SCHEMA,
                limits=Limits(length_chars=100_000),
            ),
        )
        for n in (6, 7, 8, 9)
    ]
    small = Query("s", normalise("ST_Contains(ST_PolygonFromEnvelope(0, 0, 1, 1), ST_Point(lon, lat))", SCHEMA))
    many = [Query(f"{one.id}-{n}", one.predicate) for one in large for n in range(300)]
    plan = compile_plan(many)
    after = change_plan(plan, [small])
    assert after.listed[0] is plan.listed[0]
    assert [len(block) for block in after.listed] == [1_200, 1]


@pytest.mark.parametrize(
    ("where", "position"),
    [
        (f"ST_Contains({SQUARE}, ST_Point(lon, lat))", "ST_Point(lon, lat)"),
        (f"ST_Contains({SQUARE}, ST_Point(lon, lat)) AND alt > 3", "ST_Point(lon, lat)"),
        (f"ST_Contains({SQUARE}, ST_Point(lon, lat)) AND (alt > 3 OR s = 'a')", "ST_Point(lon, lat)"),
        (f"ST_Contains({SQUARE}, ST_Point(lon, lat)) OR alt > 3", None),
        (f"NOT ST_Contains({SQUARE}, ST_Point(lon, lat))", None),
        (f"ST_Contains({SQUARE}, ST_Point(lon, lat)) IS NULL", None),
        (f"ST_Contains({SQUARE}, ST_Expand(ST_Point(lon, lat), 1, 1))", None),
        (f"ST_Contains({SQUARE}, ST_Point(lon, lat)) OR ST_Contains({SQUARE}, ST_Point(x, y))", None),
        ("alt > 3", None),
        ("true", None),
    ],
)
def test_a_query_is_listed_where_each_conjunct_asks_for_a_shape_of_one_position(
    where: str, position: str | None
) -> None:
    found = listed_under(normalise(where, SCHEMA))
    assert (None if found is None else str(found)) == position


def test_what_is_merged_leaves_out_those_without_a_rank() -> None:
    predicates = [
        normalise(f"ST_Contains(ST_PolygonFromEnvelope(0, 0, {n}, 4), ST_Point(lon, lat))", SCHEMA) for n in (1, 2, 3)
    ]
    position = predicates[0].read[0]
    blocks = [ListedBlock.of([(handle, own.conjuncts[0])], position) for handle, own in enumerate(predicates)]
    both = merged(blocks, np.array([0, -1, 1], dtype=np.int32))
    assert both is not None
    assert both.table.owner.tolist() == [0, 2] or both.table.owner.tolist() == [2, 0]
    assert len(both.shapes) == 2
    assert merged(blocks, np.full(3, -1, dtype=np.int32)) is None


def test_the_arrays_of_every_listed_block_have_the_same_types() -> None:
    """By shapes and by values, stored and with other handles: or kernels are compiled anew for them."""
    fences = [f"ST_Contains(ST_PolygonFromEnvelope({n}, 0, {n + 1}, 1), ST_Point(lon, lat))" for n in range(9)]
    wheres = [*fences, *(f"s = 'v{n}' AND alt > {n}" for n in range(9))]
    queries = [Query(f"q{n:02}", normalise(where, SCHEMA)) for n, where in enumerate(wheres)]
    plan = compile_plan(queries, CompileOptions(listed_conjuncts=1))
    stored = plan_of([Part.from_bytes(part.to_bytes()) for part in parts_of(plan)])
    assert {block.by_shapes for block in plan.listed} == {True, False}
    blocks = [*plan.listed, *stored.listed, *(block.with_owners(block.table.owner + 1) for block in plan.listed)]
    assert len({numba.typeof(block.arguments) for block in blocks}) == 1
    assert [block.arguments.has_others for block in plan.listed] == [not block.by_shapes for block in plan.listed]
    assert all(block.arguments.table.owner is block.table.owner for block in blocks)
