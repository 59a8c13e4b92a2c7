"""What tuples begin with where patterns constrain conjuncts: every way a plan comes about, against the predicates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc import Matcher, Schema
from asc.evaluation import initial_bitmaps
from asc.evaluation.evaluation_errors import queries_with_errors
from asc.evaluation.executor import match
from asc.evaluation.explain import explain
from asc.evaluation.initial_bitmaps import InitialBitmaps, chunk_rows
from asc.evaluation.reference import accepted_by
from asc.plan.compiler import change_plan, compile_plan, renewed
from asc.plan.parts import Part, parts_of, plan_of
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise

SCHEMA = Schema.from_ddl("s STRING, t STRING, a INT")
LITERALS = st.text("ab", min_size=1, max_size=3)
PATTERNS = st.builds(
    lambda parts, before, after: "%" * before + "%".join(parts) + "%" * after,
    st.lists(LITERALS, min_size=1, max_size=3),
    st.booleans(),
    st.booleans(),
)
LIKES = st.builds("{} LIKE '{}'".format, st.sampled_from("sst"), PATTERNS)
TERMS = (
    LIKES
    | LIKES.map("NOT {}".format)
    | st.builds("({}) {}".format, LIKES, st.sampled_from(("IS NULL", "IS NOT NULL", "IS NOT TRUE", "<=> FALSE")))
    | st.builds("{}(s, '{}')".format, st.sampled_from(("contains", "startswith", "endswith")), LITERALS)
    | st.builds("s = '{}'".format, LITERALS)
    | st.builds("a > {}".format, st.integers(0, 3))
)
PREDICATES = st.builds(
    lambda terms, word: word.join(terms), st.lists(TERMS, min_size=1, max_size=4), st.sampled_from((" AND ", " OR "))
)
TEXTS = st.none() | st.text("ab", max_size=8)
TUPLES = st.lists(st.tuples(TEXTS, TEXTS, st.none() | st.integers(0, 4)), min_size=1, max_size=8)
OPTIONS = {
    "exact": CompileOptions(),
    "blocks": CompileOptions(exact_bytes=0, block_conjuncts=64),
    "bounded": CompileOptions(exact_bytes=0, block_conjuncts=64, bounded_regions=2, bounded_rows=2, exact_regions=2),
}


def query(query_id: str, where: str) -> Query:
    return Query(query_id, normalise(where, SCHEMA))


def columns_of(plan: Plan, tuples: list[tuple[Any, ...]]) -> list[pa.Array]:
    by_name = dict(zip(SCHEMA.arrow.names, zip(*tuples, strict=True), strict=True))
    return [pa.array(by_name[attribute.sql], attribute.type) for attribute in plan.p_attributes]


def expected(queries: Mapping[str, Query], own: tuple[Any, ...]) -> list[str]:
    """By the predicates' constraints, one pattern at a time."""
    values = dict(zip(SCHEMA.arrow.names, own, strict=True))
    found = []
    for query_id, one in queries.items():
        scalars = {a: pa.scalar(values[a.sql], a.type) for a in one.predicate.read}
        keys = {a: a.key_of(scalar) for a, scalar in scalars.items()}
        holds = (all(c.admits(a.key_among(keys)) for a, c in terms) for terms in one.predicate.conjuncts)
        if one.predicate.match_all or any(holds):
            found.append(query_id)
    return sorted(found)


def check(plan: Plan, queries: Mapping[str, Query], tuples: list[tuple[Any, ...]]) -> None:
    columns = columns_of(plan, tuples)
    for counts in (False, True):
        matches = match(plan, columns, len(tuples), count_cost=counts)
        found: list[list[str]] = [[] for _ in tuples]
        for row, ordinal in zip(matches.rows.tolist(), matches.queries.tolist(), strict=True):
            found[row].append(plan.query_ids[ordinal].as_py())
        assert found == [expected(queries, own) for own in tuples]
    keys = [a.key_of(column[0]) for a, column in zip(plan.p_attributes, columns, strict=True)]
    assert accepted_by(plan, keys) == found[0]
    for query_id in list(queries)[:2]:
        explanation = explain(plan, query_id, [column[0] for column in columns], whole=True)
        assert explanation.accepted == (query_id in found[0])


@settings(deadline=None)  # the first call compiles
@pytest.mark.parametrize("options", OPTIONS)
@given(
    st.lists(PREDICATES, min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 7), st.none() | PREDICATES), max_size=6),
    TUPLES,
)
def test_a_plan_of_patterns_accepts_what_the_predicates_do(
    options: str, first: list[str], changes: list[tuple[int, str | None]], tuples: list[tuple[Any, ...]]
) -> None:
    queries = {f"q{number}": query(f"q{number}", where) for number, where in enumerate(first)}
    plan = compile_plan(queries.values(), OPTIONS[options])
    parts = parts_of(plan)
    check(plan, queries, tuples)
    for number, where in changes:
        query_id = f"q{number}"
        if where is None:
            if query_id not in queries:
                continue
            del queries[query_id]
            plan = change_plan(plan, remove=[query_id], postpones=True)
        else:
            queries[query_id] = query(query_id, where)
            plan = change_plan(plan, add=[queries[query_id]], postpones=True)
        parts = parts_of(plan, parts)
        plan = plan_of(parts)
    check(plan_of([Part.from_bytes(part.to_bytes()) for part in parts]), queries, tuples)
    check(renewed(plan), queries, tuples)


def test_texts_in_any_layout() -> None:
    matcher = Matcher(SCHEMA)
    matcher.add_many([("port", "s LIKE '%port%down%'"), ("none", "NOT s LIKE '%port%'")])
    texts = ["a port is down", None, "port", "down port", ""] * 500
    plain = pa.array(texts)
    layouts = [
        plain,
        plain.dictionary_encode(),
        plain.cast(pa.large_string()),
        pa.chunked_array([plain[:7], plain[7:]]),
        pa.DictionaryArray.from_arrays(
            pa.array([2, 1, 2, 0, 3] * 500), pa.array(["down port", None, "a port is down", ""])
        ),
    ]
    wanted = [matcher.match(pa.table({"s": layout})).to_pydict() for layout in layouts]
    assert wanted[:4] == [wanted[0]] * 4
    assert wanted[0]["query"][:2] == ["port", "none"]
    assert wanted[0]["row"][:2] == [0, 4]
    assert wanted[4]["row"][:3] == [0, 2, 4]


def test_more_tuples_than_there_is_room_for_at_a_time() -> None:
    numbers = range(3_000)
    plan = compile_plan([query(f"q{n:04}", f"s LIKE '%x{n} %'") for n in numbers], CompileOptions(exact_bytes=0))
    texts = pa.array([f"x{n} and x{(7 * n) % 3_000} " for n in numbers])
    assert initial_bitmaps._ROWS_BYTES // plan.blocks[0].live.nbytes < len(texts)
    matches = match(plan, [texts], len(texts))
    wanted = [sorted({n, (7 * n) % 3_000}) for n in numbers]
    assert matches.queries.tolist() == [ordinal for own in wanted for ordinal in own]


def test_a_block_whose_conjuncts_all_ask_for_a_pattern_is_left_at_once() -> None:
    plan = compile_plan([query("one", "s LIKE '%x%' AND a > 1"), query("two", "s LIKE '%y%'")])
    matches = match(plan, [pa.array([5], pa.int32()), pa.array(["z"])], 1, count_cost=True)
    assert (len(matches), matches.dropped, matches.evaluated) == (0, 1, 0)


def test_chunks_are_shorter_where_more_patterns_can_match() -> None:
    few = compile_plan([query("q", "s LIKE '%x%'")])
    assert chunk_rows(few, 8_192) == 8_192
    many = compile_plan([query(f"q{n}", f"s LIKE '%x{n} %'") for n in range(10_000)])
    assert chunk_rows(many, 8_192) < 8_192
    assert InitialBitmaps(many, 10).bitmap_rows.tolist() == [0] * 10


def test_an_evaluation_error_concerns_no_query_whose_pattern_the_tuple_does_not_match() -> None:
    schema = Schema.from_ddl("s STRING, a INT, b INT")
    wheres = {"yes": "s LIKE '%x%' AND a / b > 1", "no": "s LIKE '%y%' AND a / b > 1"}
    plan = compile_plan([Query(query_id, normalise(where, schema)) for query_id, where in wheres.items()])
    slot = next(slot for slot, a in enumerate(plan.p_attributes) if a.error_condition is not None)
    columns = [pa.array([None] if place == slot else ["axb"], a.type) for place, a in enumerate(plan.p_attributes)]
    handles, counts = queries_with_errors(plan, columns, {slot: np.ones(1, dtype=np.bool_)})
    assert [plan.query_ids[int(plan.ranks[handle])].as_py() for handle in handles] == ["yes"]
    assert counts.tolist() == [1]


def test_what_could_not_be_evaluated_concerns_the_queries_that_look_in_it() -> None:
    schema = Schema.from_ddl("n INT, m INT")
    where = "coalesce(CAST(n / m AS STRING), 'none') LIKE '%x%y'"
    plan = compile_plan([Query("q", normalise(where, schema))])
    columns = [pa.array(["none"] * 3)]
    handles, counts = queries_with_errors(plan, columns, {0: np.array([True, False, True])})
    assert (len(handles), counts.tolist()) == (1, [2])


def test_many_hits_of_one_block_are_no_work_in_another() -> None:
    common = [query(f"a{n:03}", f"s LIKE '%{n % 10}%{n:03}%' AND a = 9") for n in range(100)]
    rare = [query(f"b{n:03}", f"s LIKE '%x{n:03} %'") for n in range(100)]
    plan = compile_plan([*common, *rare], CompileOptions(exact_bytes=0, block_conjuncts=64))
    texts = ["".join(f"{n % 10}{n:03}" for n in range(100)) + "x007 ", "x001 x002 "]
    columns = {"s": pa.array(texts), "a": pa.array([1, 9], pa.int32())}
    matches = match(plan, [columns[attribute.sql] for attribute in plan.p_attributes], 2)
    accepted = [plan.query_ids[ordinal].as_py() for ordinal in matches.queries]
    assert list(zip(matches.rows.tolist(), accepted, strict=True)) == [(0, "b007"), (1, "b001"), (1, "b002")]
