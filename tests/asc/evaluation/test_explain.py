"""Explanations, and single values as keys and text."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PlanError
from asc.evaluation.explain import explain
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate.normal_form import Predicate

DELAY = PAttribute("delay", pa.int32(), ("delay",))
CITY = PAttribute("city", pa.string(), ("city",))
LATE = (DELAY, Constraint((((30, 1), None),)))
OSLO = (CITY, Constraint((((b"Oslo", 0), (b"Oslo", 1)),)))
LONG = "-123456789012345678901234567890123.00001"
QUERIES = [
    Query("late", Predicate("", ((LATE, OSLO),))),
    Query("either", Predicate("", ((LATE,), (OSLO,)))),
    Query("all", Predicate("", (), match_all=True)),
    Query("none", Predicate("", ())),
]


def values(plan: Plan, delay: int | None, city: str | None) -> list[pa.Scalar]:
    by_name = {"delay": pa.scalar(delay, pa.int32()), "city": pa.scalar(city, pa.string())}
    return [by_name[attribute.sql] for attribute in plan.p_attributes]


def test_constructs_and_sequence_of_a_query() -> None:
    text = explain(compile_plan(QUERIES), "either")
    assert "either: 2 conjuncts in block 1 of 1, which holds 3 conjuncts" in text
    assert "sequence: city -> delay" in text
    assert "delay > 30   (construct 2 of 2: 3 exact regions and NULL, used by 2 conjuncts)" in text
    assert "  city = 'Oslo'   (construct 1 of 2" in text


def test_the_way_of_an_accepted_tuple() -> None:
    plan = compile_plan(QUERIES)
    lines = explain(plan, "late", values(plan, 45, "Oslo")).splitlines()
    assert lines[-3:] == [
        "  1. city = 'Oslo', region city = 'Oslo': 3 left",
        "  2. delay = 45, region delay > 30: 3 left",
        "accepted by conjunct 1; 2 constructs evaluated",
    ]


def test_the_way_of_a_dropped_tuple() -> None:
    plan = compile_plan(QUERIES)
    lines = explain(plan, "either", values(plan, None, "Bergen")).splitlines()
    assert lines[-3:] == [
        "  1. city = 'Bergen', region city < 'Oslo': 1 left; ends conjunct 2",
        "  2. delay = NULL, region NULL: 0 left; ends conjunct 1",
        "not accepted; 2 constructs evaluated; the tuple is dropped by this block",
    ]


def test_what_verification_ends() -> None:
    plan = compile_plan(QUERIES[:1], CompileOptions(exact_bytes=0, exact_regions=0, bounded_regions=1, bounded_rows=0))
    last = explain(plan, "late", values(plan, 5, "Oslo")).splitlines()[-1]
    assert last == "not accepted; 2 constructs evaluated; conjunct 1 ended by verifying delay"


def test_queries_in_no_construct() -> None:
    plan = compile_plan(QUERIES)
    assert explain(plan, "all") == "all accepts every tuple: it is in no construct"
    assert explain(plan, "none") == "none accepts no tuple: it is in no construct"
    with pytest.raises(PlanError, match="unknown query 'nobody'"):
        explain(plan, "nobody")
