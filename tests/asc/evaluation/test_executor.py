"""The executor at its edges: empty and all-NULL batches, array forms, growth of the output, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from asc.errors import PlanError
from asc.evaluation.executor import CHUNK_ROWS, match, match_within
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.schema import Schema
from workloads.mixed import mixed_workload

if TYPE_CHECKING:
    from conftest import ListsOf

Ids = Callable[..., list[list[str]]]
A = PAttribute("a", pa.int32(), ("a",))
S = PAttribute("s", pa.string(), ("s",))
POSITIVE = Constraint((((0, 1), None),))
NOTHING = Constraint((), null=True)
OSLO = Constraint((((b"Oslo", 0), (b"Oslo", 1)),))


def plan_of(**conjuncts: tuple[PAttribute, Constraint]) -> Plan:
    return compile_plan([Query(query_id, Predicate("", ((one,),))) for query_id, one in conjuncts.items()])


@pytest.fixture(scope="session")
def ids(lists_of: ListsOf) -> Ids:
    return lambda plan, *columns: lists_of(match(plan, columns, len(columns[0])), plan.query_ids)


def test_empty_batches() -> None:
    plan = plan_of(positive=(A, POSITIVE), oslo=(S, OSLO))
    matches = match(plan, [pa.array([], pa.int32()), pa.chunked_array([], pa.string())], 0)
    assert (len(matches), matches.tuples, matches.dropped, matches.evaluated) == (0, 0, 0, 0)


def test_pairs_without_those_of_some_rows(lists_of: ListsOf) -> None:
    plan = plan_of(positive=(A, POSITIVE), nothing=(A, NOTHING))
    matches = match(plan, [pa.array([1, None, -1, 2, None], pa.int32())], 5)
    kept = matches.without(np.array([True, False, False, False, True]))
    assert lists_of(kept, plan.query_ids) == [[], ["nothing"], [], ["positive"], []]
    assert (kept.tuples, kept.evaluated) == (matches.tuples, matches.evaluated)
    assert len(kept.without(np.ones(5, dtype=np.bool_))) == 0


def test_all_null_columns(ids: Ids) -> None:
    plan = plan_of(positive=(A, POSITIVE), nothing=(A, NOTHING), oslo=(S, OSLO), silent=(S, NOTHING))
    assert ids(plan, pa.nulls(3, pa.int32()), pa.nulls(3, pa.string())) == [["nothing", "silent"]] * 3


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["x", "Oslo", None, "", "Oslo!"]),
        pa.array(["?", "x", "Oslo", None, "", "Oslo!", "?"]).slice(1, 5),
        pa.chunked_array([["x"], [], ["Oslo", None], ["", "Oslo!"]]),
        pa.array(["x", "Oslo", None, "", "Oslo!"]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, 4]), pa.array(["x", "Oslo", None, "", "Oslo!"])),
        pa.array(["x", "Oslo", None, "", "Oslo!"], pa.large_string()),
        pa.array(["x", "Oslo", None, "", "Oslo!"], pa.string_view()),
    ],
    ids=["plain", "sliced", "chunked", "dictionary", "dictionary with NULL", "large", "view"],
)
def test_forms_of_a_string_column(ids: Ids, values: pa.Array | pa.ChunkedArray) -> None:
    plan = plan_of(oslo=(S, OSLO), nothing=(S, NOTHING))
    assert ids(plan, values) == [[], ["oslo"], ["nothing"], [], []]


def test_a_dictionary_without_values_is_all_null(ids: Ids) -> None:
    empty = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], pa.string()))
    assert ids(plan_of(nothing=(S, NOTHING)), empty) == [["nothing"]] * 2


def test_more_pairs_than_room_was_made_for() -> None:
    queries = [Query(f"q{number:03d}", Predicate("", (((A, POSITIVE),),))) for number in range(300)]
    plan = compile_plan(queries, CompileOptions(exact_bytes=0, block_conjuncts=64))
    rows = CHUNK_ROWS + 100
    values = np.arange(rows) % 2
    matches = match(plan, [pa.array(values, pa.int32())], rows)
    assert np.array_equal(matches.rows, np.repeat(np.flatnonzero(values), 300))
    assert np.array_equal(matches.queries, np.tile(np.arange(300), rows // 2))
    assert matches.dropped == rows - rows // 2


def test_match_all_queries_are_routed_beside_the_constructs(lists_of: ListsOf) -> None:
    everything = Query("m", Predicate("TRUE", (), match_all=True), "all")
    nothing = Query("n", Predicate("FALSE", ()), "none")
    positive = Query("p", Predicate("", (((A, POSITIVE),),)), "some")
    plan = compile_plan([everything, nothing, positive])
    matches = match(plan, [pa.array([1, -1], pa.int32())], 2)
    assert lists_of(matches, plan.query_ids) == [["m", "p"], ["m"]]
    assert lists_of(matches, plan.topics.dictionary.take(plan.topics.indices)) == [["all", "some"], ["all"]]
    assert matches.dropped == 1
    assert matches.rows.tolist() == [0, 0, 1]


def test_a_plan_of_match_all_queries_alone_needs_no_column(lists_of: ListsOf) -> None:
    plan = compile_plan([Query("m", Predicate("TRUE", (), match_all=True))])
    assert lists_of(match(plan, [], 3), plan.query_ids) == [["m"]] * 3


@pytest.mark.parametrize(
    ("columns", "rows", "message"),
    [
        ([], 2, "number of columns 0"),
        ([pa.array([1], pa.int32())], 2, "length of column a 1"),
        ([pa.array([1, 2], pa.int64())], 2, "column of p-attribute a has type 'int64': expected int32"),
        ([pa.array(["1", "2"]).dictionary_encode()], 2, "has type 'string': expected int32"),
    ],
)
def test_refused_columns(columns: list[pa.Array], rows: int, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        match(plan_of(positive=(A, POSITIVE)), columns, rows)


def test_what_many_queries_accept_is_found_with_and_without_verification() -> None:
    workload = mixed_workload(3_000)
    tuples, codes = workload.tuples(2_500)
    rng = np.random.default_rng(5)
    nulls = rng.random(codes.shape) < 0.02
    columns = {
        each.name: pc.if_else(pa.array(~own), tuples[each.name].combine_chunks(), None)
        for each, own in zip(workload.attributes, nulls, strict=True)
    }
    accepted = np.ones((workload.queries, tuples.num_rows), dtype=np.bool_)
    for i, (owner, attribute) in enumerate(zip(workload.owner.tolist(), workload.attribute.tolist(), strict=True)):
        inside = np.zeros(tuples.num_rows, dtype=np.bool_)
        for j in range(workload.first[i], workload.first[i + 1]):
            inside |= (workload.low[j] <= codes[attribute]) & (codes[attribute] <= workload.high[j])
        accepted[owner] &= inside & ~nulls[attribute]
    queries = workload.standing_queries()
    options = CompileOptions(exact_bytes=0, exact_regions=32, bounded_rows=400, block_conjuncts=1_536)
    plan = compile_plan(queries, options)
    assert any(block.verification_masks is not None for block in plan.blocks)
    moved = change_plan(plan, add=queries[:60], remove=[query.id for query in queries[700:760]])
    moved = change_plan(moved, add=queries[700:760])
    assert moved.changes
    rows, ordinals = np.nonzero(accepted.T)
    for compiled in (plan, moved):
        for count_cost in (False, True):
            found = match(compiled, [columns[each.sql] for each in compiled.p_attributes], 2_500, count_cost=count_cost)
            assert np.array_equal(found.rows, rows)
            assert np.array_equal(found.queries, ordinals)
            assert found.dropped == 2_500 - len(np.unique(rows))


@pytest.mark.parametrize("exact_regions", [0, 256])
def test_the_ends_of_the_key_space_are_constants_like_others(exact_regions: int) -> None:
    least, greatest = -(2**63), 2**63 - 1
    intervals = {
        "greatest": (((greatest, 0), (greatest, 1)),),
        "from the greatest": (((greatest, 0), None),),
        "least": ((None, (least, 1)),),
        "above the least": (((least, 1), None),),
        "below the greatest": ((None, (greatest, 0)),),
        "or": (((1_500, 0), (1_600, 1)), ((5_000, 0), (6_000, 1)), ((greatest, 0), (greatest, 1))),
        "near": (((1, 0), (210, 1)),),
    }
    column = PAttribute("x", pa.int64(), ("x",))
    queries = [Query(name, Predicate("", (((column, Constraint(own)),),))) for name, own in sorted(intervals.items())]
    keys = [least, least + 1, -3 * 10**9, -(2**31) - 1, -(2**31), -(2**31) + 1, 0, 1, 210, 1_550, 5_500]
    keys += [2**31 - 2, 2**31 - 1, 2**31, 3 * 10**9, greatest - 1, greatest]
    options = CompileOptions(exact_bytes=0, exact_regions=exact_regions, bounded_regions=3, bounded_rows=0)
    small = [query for query in queries if query.id in ("near", "or")]
    plans = [compile_plan(queries, options), *(compile_plan([query], options) for query in queries)]
    plans.append(change_plan(compile_plan(small, options), add=[query for query in queries if query not in small]))
    for plan in plans:
        found = match(plan, [pa.array(keys, pa.int64())], len(keys))
        ids = plan.query_ids.take(pa.array(found.queries)).to_pylist()
        expected = [
            (row, query.id)
            for row, key in enumerate(keys)
            for query in queries
            if query.id in plan and Constraint(intervals[query.id]).admits(key)
        ]
        assert list(zip(found.rows.tolist(), ids, strict=True)) == expected


@pytest.mark.parametrize("most", [1, 7, 40, 1_000, 1_000_000])
def test_no_more_rows_than_have_room_for_their_pairs(most: int) -> None:
    """Bitmaps, listed values and fences, and a query that accepts every row: all pairs, however few at a time."""
    schema = Schema.from_ddl("n INT, lon DOUBLE, lat DOUBLE")
    texts = {"every": "true", "some": "n > 3"}
    texts |= {f"v{number}": f"n = {number % 100}" for number in range(200)}
    texts |= {
        f"f{number}": f"ST_Contains(ST_PolygonFromEnvelope(0, 0, 5, {number % 6 + 1}), ST_Point(lon, lat))"
        for number in range(30)
    }
    plan = compile_plan(
        [Query(query_id, normalise(text, schema)) for query_id, text in texts.items()],
        CompileOptions(listed_conjuncts=100),
    )
    assert plan.blocks
    assert len(plan.listed) == 2
    random = np.random.default_rng(0)
    rows = 300
    values = {
        "n": pa.array(random.integers(0, 100, rows), pa.int32()),
        "lon": pa.array(random.uniform(-5, 5, rows)),
        "lat": pa.array(random.uniform(0, 6, rows)),
    }
    columns = [
        pa.StructArray.from_arrays([values["lon"], values["lat"]], fields=list(own.type))
        if own.is_point
        else values["n"]
        for own in plan.p_attributes
    ]
    whole = match(plan, columns, rows)
    found, start = [], 0
    while start < rows:
        part = match_within(plan, [column.slice(start) for column in columns], rows - start, most)
        assert 0 < part.tuples <= rows - start
        assert len(part) <= most or part.tuples == 1
        found += zip((part.rows + start).tolist(), part.queries.tolist(), strict=True)
        start += part.tuples
    assert found == list(zip(whole.rows.tolist(), whole.queries.tolist(), strict=True))
    assert match_within(plan, [column.slice(rows) for column in columns], 0, most).tuples == 0
