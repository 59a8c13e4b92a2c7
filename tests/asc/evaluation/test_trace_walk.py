"""The trace of a tuple against the kernels and the reference, and what it tells of a plan small enough to be worked
out by hand.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asc.errors import PlanError
from asc.evaluation.executor import match
from asc.evaluation.reference import accepted_by, evaluate_block
from asc.evaluation.trace import BlockTrace, EliminatedConjunct, Eliminations, Remaining, plain
from asc.evaluation.trace_walk import traced
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.schema import Schema

SCHEMA = Schema.from_ddl("n INT, d DOUBLE, s STRING, flag BOOLEAN, price DECIMAL(20, 2)")
TERMS = (
    *("n > 5", "n <= 5", "n = 7", "n IN (1, 2, 7)", "n IS NULL", "n BETWEEN -3 AND 3", "NOT n > 5", "n <> 7"),
    *("d > 1.5", "d <= 0", "d IS NOT NULL", "d < -1.5 OR d > 1.5"),
    *("s = 'Zürich'", "s > 'abc'", "s LIKE '%ü%'", "s LIKE '%port%down%'", "s NOT LIKE '%東%'", "s LIKE 'a%b%'"),
    *("s IN ('', '東京', '🚀')", "s IS NULL", "flag", "NOT flag", "price >= 10.05", "price = -0.01"),
    "s LIKE '%a%' AND s LIKE '%b%'",
)
VALUES: dict[str, tuple[Any, ...]] = {
    "n": (None, -4, -3, 0, 1, 5, 6, 7, 2**31 - 1),
    "d": (None, 0.0, -0.0, 1.5, 1.6, -2.0, math.nan, math.inf, -math.inf),
    "s": (None, "", "a", "ab", "abc", "axb", "Zürich", "東京", "🚀", "port 7 is down", "down port"),
    "flag": (None, True, False),
    "price": (None, Decimal("10.05"), Decimal("10.04"), Decimal("-0.01"), Decimal("999999999999999999.99")),
}
BOUNDED = CompileOptions(exact_bytes=0, exact_regions=3, bounded_regions=3, bounded_rows=0, block_conjuncts=64)


@st.composite
def queries(draw: st.DrawFn) -> list[Query]:
    texts = draw(
        st.lists(
            st.lists(st.lists(st.sampled_from(TERMS), min_size=1, max_size=3), min_size=1, max_size=3), max_size=40
        )
    )
    found = []
    for number, conjuncts in enumerate(texts):
        where = " OR ".join("(" + " AND ".join(f"({term})" for term in terms) + ")" for terms in conjuncts)
        found.append(Query(f"q{number}", normalise(where, SCHEMA)))
    return [*found, *([Query("all", Predicate("", (), match_all=True))] if draw(st.booleans()) else [])]


def rows() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({name: st.sampled_from(values) for name, values in VALUES.items()})


def scalars(plan: Plan, row: dict[str, Any]) -> list[pa.Scalar]:
    return [pa.scalar(row[attribute.sql], attribute.type) for attribute in plan.p_attributes]


def reordered(plan: Plan, seed: int) -> Plan:
    """The plan with some sequence and some micro-arrows in every block."""
    rng, orders = np.random.default_rng(seed), {}
    for number, block in enumerate(plan.blocks):
        count = len(block.slots)
        starts = rng.integers(0, count, 6).tolist()
        arrows = [
            (own, int(rng.integers(0, block.region_count(own) + 1)), int(rng.integers(0, count))) for own in starts
        ]
        orders[number] = block.order_of(rng.permutation(count).tolist(), arrows)
    return plan.with_orders(orders)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(queries(), rows(), st.sampled_from((CompileOptions(), BOUNDED)), st.integers(0, 9), st.data())
def test_a_trace_accepts_what_the_kernels_and_the_reference_accept(
    found: list[Query], row: dict[str, Any], options: CompileOptions, seed: int, data: st.DataObject
) -> None:
    plan = compile_plan(found, replace(options, rebuild_share=1000.0))
    if found and data.draw(st.booleans()):
        gone = data.draw(st.sets(st.sampled_from([query.id for query in found]), max_size=3))
        plan = change_plan(plan, remove=sorted(gone))
    for one in (plan, reordered(plan, seed)):
        values = scalars(one, row)
        trace = traced(one, values, blocks=len(one.blocks), listed=1_000)
        matched = match(one, [pa.repeat(value, 1) for value in values], 1, count_cost=True)
        assert list(trace.accepted) == one.query_ids.take(pa.array(matched.queries)).to_pylist()
        keys = [attribute.key_of(value) for attribute, value in zip(one.p_attributes, values, strict=True)]
        assert list(trace.accepted) == accepted_by(one, keys)
        assert (trace.evaluated, trace.dropped_blocks) == (matched.evaluated, matched.block_dropped.sum())
        for block_trace in trace.blocks_shown:
            agrees_with_the_reference(one, block_trace, keys)
        json.dumps(plain(trace), allow_nan=False)


def agrees_with_the_reference(plan: Plan, block_trace: BlockTrace, keys: list[Any]) -> None:
    walk = evaluate_block(plan, block_trace.number, keys)
    block = plan.blocks[block_trace.number]
    names = [str(plan.p_attributes[slot]) for slot in block.slots.tolist()]
    assert block_trace.initial_conjuncts == walk.start.count()
    steps = [(names[step.construct], step.region, step.grb.count()) for step in walk.steps]
    assert [(visit.attribute, visit.region, visit.after) for visit in block_trace.visits] == steps
    assert block_trace.dropped == walk.dropped
    befores = [block_trace.initial_conjuncts, *(visit.after for visit in block_trace.visits)]
    assert [visit.before for visit in block_trace.visits] == befores[: len(block_trace.visits)]
    lost = [block_trace.patterns, *(visit.eliminated for visit in block_trace.visits), block_trace.verification]
    assert block_trace.conjuncts - sum(one.conjuncts for one in lost) == block_trace.satisfied_conjuncts
    owners = len(set(block.table.owner[block.table.owner >= 0].tolist()))
    assert owners - sum(one.queries for one in lost) == block_trace.matching_queries
    # The verification comes last, and rules out after the last construct.
    assert (
        owners - sum(one.queries for one in lost[:-1])
        == block_trace.remaining.queries
        == len(block_trace.remaining.query_ids)
    )
    assert list(block_trace.remaining.query_ids) == sorted(block_trace.remaining.query_ids)
    for one in lost:
        # Nothing is cut off here, and whatever fell has a term that says why.
        assert len(one.examples) == one.conjuncts
        assert all(fallen.term for fallen in one.examples)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(queries(), rows(), st.sampled_from((CompileOptions(), BOUNDED)))
def test_the_verdict_of_each_query_is_what_the_trace_accepts(
    found: list[Query], row: dict[str, Any], options: CompileOptions
) -> None:
    plan = compile_plan(found, options)
    values = scalars(plan, row)
    accepted = traced(plan, values, listed=1_000).accepted
    for query in found:
        trace = traced(plan, values, query_id=query.id, blocks=1)
        verdict = trace.verdict
        assert verdict is not None
        assert verdict.accepted == (query.id in accepted)
        for conjunct in verdict.conjuncts:
            assert conjunct.holds == all(term.holds for term in conjunct.terms)
            assert conjunct.holds == (conjunct.eliminated_by is None)
            assert (conjunct.eliminated_by == "construct") == (conjunct.eliminated_at is not None)
        if verdict.block is not None:
            assert [block_trace.number for block_trace in trace.blocks_shown] == [verdict.block]


DELAY = PAttribute("delay", pa.int32(), ("delay",))
CITY = PAttribute("city", pa.string(), ("city",))
LATE = (DELAY, Constraint((((30, 1), None),)))
OSLO = (CITY, Constraint((((b"Oslo", 0), (b"Oslo", 1)),)))
QUERIES = [Query("late", Predicate("", ((LATE, OSLO),))), Query("either", Predicate("", ((LATE,), (OSLO,))))]


def delayed(plan: Plan, delay: int | None, city: str | None) -> list[pa.Scalar]:
    row = {"delay": delay, "city": city}
    return [pa.scalar(row[attribute.sql], attribute.type) for attribute in plan.p_attributes]


def test_what_fell_out_where_and_by_which_term() -> None:
    plan = compile_plan(QUERIES)
    (block,) = traced(plan, delayed(plan, 45, "Bergen")).blocks_shown
    first, second = block.visits
    assert (first.attribute, first.value, first.region_text) == ("city", "city = 'Bergen'", "city < 'Oslo'")
    assert (first.region, first.regions, first.is_null, first.before, first.after) == (0, 3, False, 3, 1)
    # Of "either" one conjunct fell, and it has another one left.
    assert (first.eliminated.conjuncts, first.eliminated.queries) == (2, 1)
    assert first.eliminated.examples == (
        EliminatedConjunct("late", 1, "city = 'Oslo'"),
        EliminatedConjunct("either", 2, "city = 'Oslo'"),
    )
    assert (second.value, second.region, second.eliminated) == ("delay = 45", 2, Eliminations(0, 0, ()))
    assert (block.satisfied_conjuncts, block.matching_queries, block.dropped) == (1, 1, False)


def test_the_query_that_is_asked_about_comes_first_among_what_fell() -> None:
    plan = compile_plan([Query(f"q{number:03}", Predicate("", ((OSLO,),))) for number in range(100)])
    trace = traced(plan, delayed(plan, None, None)[: len(plan.p_attributes)], query_id="q077", listed=3)
    (visit,) = trace.blocks_shown[0].visits
    assert [fallen.query for fallen in visit.eliminated.examples] == ["q077", "q000", "q001"]
    assert (visit.eliminated.conjuncts, visit.eliminated.queries, visit.is_null, visit.region) == (100, 100, True, 3)


def test_what_is_told_is_bounded_and_what_is_counted_is_not() -> None:
    each = [Constraint((((number, 0), None),)) for number in range(600)]
    plan = compile_plan([Query(f"q{i:03}", Predicate("", (((DELAY, own),),))) for i, own in enumerate(each)], BOUNDED)
    assert len(plan.blocks) > 8
    trace = traced(plan, [pa.scalar(299, pa.int32())], query_id="q500", blocks=2, listed=4)
    assert (trace.accepted_count, trace.accepted) == (300, ("q000", "q001", "q002", "q003"))
    assert (len(trace.blocks_shown), trace.blocks, trace.queries) == (2, len(plan.blocks), 600)
    assert trace.verdict is not None
    assert trace.blocks_shown[0].number == trace.verdict.block
    assert all(
        len(visit.eliminated.examples) <= 4 for block_trace in trace.blocks_shown for visit in block_trace.visits
    )
    assert traced(plan, [pa.scalar(299, pa.int32())], blocks=0, listed=0).blocks_shown == ()


def test_the_query_that_is_asked_about_comes_first_among_what_remains() -> None:
    each = [Query(f"q{number:03}", Predicate("", ((OSLO,),))) for number in range(100)]
    plan = compile_plan([*each, Query("late", Predicate("", ((LATE,),)))])
    values = delayed(plan, None, "Oslo")
    (block,) = traced(plan, values, query_id="q077", listed=3).blocks_shown
    assert block.remaining == Remaining(100, ("q077", "q000", "q001"))
    # One that fell out is not among them.
    (block,) = traced(plan, values, query_id="late", listed=3).blocks_shown
    assert block.remaining == Remaining(100, ("q000", "q001", "q002"))


def test_verification_tells_the_term() -> None:
    options = CompileOptions(exact_bytes=0, exact_regions=0, bounded_regions=1, bounded_rows=0)
    plan = compile_plan(QUERIES[:1], options)
    trace = traced(plan, delayed(plan, 5, "Oslo"), query_id="late")
    assert trace.blocks_shown[0].verification == Eliminations(1, 1, (EliminatedConjunct("late", 1, "delay > 30"),))
    assert trace.verdict is not None
    assert trace.verdict.conjuncts[0].eliminated_by == "verification"


def test_patterns_tell_the_term() -> None:
    plan = compile_plan([Query("port", normalise("s LIKE '%port%down%' AND n > 5", SCHEMA))])
    values = scalars(plan, {"s": "port is up", "n": 6})
    trace = traced(plan, values, query_id="port")
    assert trace.blocks_shown[0].patterns == Eliminations(
        1, 1, (EliminatedConjunct("port", 1, "(s LIKE '%port%down%')"),)
    )
    assert trace.blocks_shown[0].visits == ()
    assert trace.verdict is not None
    assert trace.verdict.conjuncts[0].eliminated_by == "patterns"


def test_a_long_text_is_cut_and_an_unknown_query_is_none() -> None:
    plan = compile_plan(QUERIES)
    trace = traced(plan, delayed(plan, 1, "x" * 100_000), query_id="late")
    assert len(json.dumps(plain(trace))) < 10_000
    with pytest.raises(PlanError, match="unknown query 'nobody'"):
        traced(plan, delayed(plan, 1, "x"), query_id="nobody")


def test_a_plan_of_no_query() -> None:
    trace = traced(compile_plan(()), [])
    assert (trace.accepted_count, trace.blocks_shown, trace.blocks) == (0, (), 0)


EVERY_SPACE: dict[str, tuple[str, tuple[pa.Scalar, ...]]] = {
    "b BOOLEAN": ("b", (pa.scalar(True), pa.scalar(False))),
    "i TINYINT": ("i > 5", (pa.scalar(-128, pa.int8()),)),
    "l BIGINT": ("l IN (5, -9223372036854775808)", (pa.scalar(-(2**63)),)),
    "d DATE": ("d = DATE '0001-01-01'", (pa.scalar(-719162, pa.date32()), pa.scalar(2**31 - 1, pa.date32()))),
    "t TIMESTAMP": ("t >= TIMESTAMP '2020-01-01'", tuple(pa.scalar(v, pa.timestamp("us", "UTC")) for v in (0, 2**62))),
    "z TIMESTAMP_NTZ": ("z < TIMESTAMP_NTZ '2020-01-01'", (pa.scalar(-(2**62), pa.timestamp("us")),)),
    "f FLOAT": ("f > 1.5", tuple(pa.scalar(v, pa.float32()) for v in (math.nan, -0.0, math.inf))),
    "p DECIMAL(9, 2)": ("p = 10.05", (pa.scalar(Decimal("-9999999.99"), pa.decimal128(9, 2)),)),
    "q DECIMAL(38, 0)": ("q > 1", (pa.scalar(Decimal(10**38 - 1), pa.decimal128(38, 0)),)),
    "s STRING": ("s = 'a'", ()),
    "k STRING": ("k LIKE '%a%b%'", ()),
    "x BINARY": ("x = X'FF00'", (pa.scalar(b"\xff\x00"), pa.scalar(b""))),
    "tags ARRAY<STRING>": ("array_contains(tags, 'red')", ()),
    "sizes ARRAY<BIGINT>": ("exists(sizes, e -> e IN (3, 4))", ()),
}
"""A predicate over a column of each key space, and values at its edges."""

TEXTS = (
    *(b"", b"a", b"axb", b"\xff", b"\xed\xa0\x80", "Zürich".encode()),
    *(b"\xfe\xfd\xfe\xfd", b"\xfe\xfdred\xfe\xfd", b"\xfe\xfd3\xfe\xfd\xfc\xfe\xfd", b"\xfe\xfdr\xffd\xfe\xfd"),
)
"""Strings as Spark has them, not all UTF-8, and the texts of arrays."""


def text_of(content: bytes) -> pa.Scalar:
    return pa.array([content]).view(pa.string())[0]


@pytest.mark.parametrize("column", EVERY_SPACE)
@pytest.mark.parametrize("queries", [1, 40])
def test_a_value_of_every_key_space_is_shown_as_the_user_wrote_it(column: str, queries: int) -> None:
    """Also where many queries ask for one value each, which an index finds."""
    where, values = EVERY_SPACE[column]
    predicate = normalise(where, Schema.from_ddl(column))
    plan = compile_plan([Query(f"q{number}", predicate) for number in range(queries)])
    (attribute,) = plan.p_attributes
    for value in (*(values or map(text_of, TEXTS)), pa.scalar(None, attribute.type)):
        text = json.dumps(plain(traced(plan, [value], query_id="q0")), allow_nan=False, ensure_ascii=False)
        # Neither the separators between elements, nor the rewriting of an array.
        assert not any(internal in text for internal in ("array_join", "FEFD", "\ufffd"))
        text.encode()
    accepted = traced(plan, [text_of(b"\xfe\xfdred\xfe\xfd")]) if "tags" in column else None
    assert accepted is None or accepted.accepted_count == queries
