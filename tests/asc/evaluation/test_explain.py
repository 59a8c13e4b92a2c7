"""Explanations, and single values as keys and text."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PlanError
from asc.evaluation.explain import PlacedTerm, explain
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.compiler import compile_plan
from asc.plan.layout import laid_out
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.schema import Schema

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
    found = explain(compile_plan(QUERIES), "either")
    assert found.accepted is None
    text = found.text
    assert "either: 2 conjuncts in block 0 (of 1, from 0 on), which holds 3 conjuncts" in text
    assert "sequence: city -> delay" in text
    assert "delay > 30   (construct 2 of 2: 3 exact regions and NULL, used by 2 conjuncts)" in text
    assert "  city = 'Oslo'   (construct 1 of 2" in text


def test_where_a_query_stands_is_told_with_its_constructs() -> None:
    plan = compile_plan(QUERIES)
    late, oslo = PlacedTerm("delay > 30", "delay"), PlacedTerm("city = 'Oslo'", "city")
    found = explain(plan, "either")
    assert (found.block, found.conjuncts) == (0, ((late,), (oslo,)))
    whole = explain(plan, "late", values(plan, 45, "Oslo"), whole=True)
    assert (whole.block, [set(terms) for terms in whole.conjuncts]) == (0, [{late, oslo}])
    # The verdict alone tells nothing of a plan.
    verdict = explain(plan, "late", values(plan, 45, "Oslo"))
    assert (verdict.block, verdict.conjuncts) == (None, ())
    assert [(explain(plan, name).block, explain(plan, name).conjuncts) for name in ("all", "none")] == [(None, ())] * 2


def test_a_term_is_in_the_construct_that_its_values_are_read_by() -> None:
    schema = Schema.from_ddl("s STRING")
    plan = compile_plan([Query("port", normalise("s LIKE '%port%down%'", schema))])
    ((term,),) = explain(plan, "port").conjuncts
    assert term.attribute in [construct.attribute for construct in laid_out(plan, 0).constructs]


def test_the_way_of_an_accepted_tuple() -> None:
    plan = compile_plan(QUERIES)
    found = explain(plan, "late", values(plan, 45, "Oslo"), whole=True)
    assert found.accepted
    assert found.text.splitlines()[-3:] == [
        "  1. city = 'Oslo', region city = 'Oslo': 3 left",
        "  2. delay = 45, region delay > 30: 3 left",
        "accepted by conjunct 1; 2 constructs evaluated",
    ]


def test_the_way_of_a_dropped_tuple() -> None:
    plan = compile_plan(QUERIES)
    found = explain(plan, "either", values(plan, None, "Bergen"), whole=True)
    assert found.accepted is False
    assert found.text.splitlines()[-3:] == [
        "  1. city = 'Bergen', region city < 'Oslo': 1 left; ends conjunct 2",
        "  2. delay = NULL, region NULL: 0 left; ends conjunct 1",
        "not accepted; 2 constructs evaluated; the tuple is dropped by this block",
    ]


def test_what_verification_ends() -> None:
    plan = compile_plan(QUERIES[:1], CompileOptions(exact_bytes=0, exact_regions=0, bounded_regions=1, bounded_rows=0))
    found = explain(plan, "late", values(plan, 5, "Oslo"), whole=True)
    assert found.accepted is False
    assert (
        found.text.splitlines()[-1] == "not accepted; 2 constructs evaluated; conjunct 1 ended by verifying delay > 30"
    )


@pytest.mark.parametrize(
    ("query_id", "delay", "city", "text"),
    [
        (
            *("late", 45, "Oslo"),
            "accepted\n  holds  delay > 30   (delay = 45)\n  holds  city = 'Oslo'   (city = 'Oslo')",
        ),
        (
            *("late", None, "Oslo"),
            "not accepted because delay > 30 fails (delay = NULL)\n"
            "  fails  delay > 30   (delay = NULL)\n  holds  city = 'Oslo'   (city = 'Oslo')",
        ),
        (
            *("either", 45, "Bergen"),
            "accepted: conjunct 1 of 2 holds\nconjunct 1 holds:\n  holds  delay > 30   (delay = 45)\n"
            "conjunct 2 fails:\n  fails  city = 'Oslo'   (city = 'Bergen')",
        ),
        (
            *("either", 5, None),
            "not accepted because in conjunct 1 delay > 30 fails (delay = 5), in conjunct 2 city = 'Oslo' fails "
            "(city = NULL)\nconjunct 1 fails:\n  fails  delay > 30   (delay = 5)\n"
            "conjunct 2 fails:\n  fails  city = 'Oslo'   (city = NULL)",
        ),
        ("all", 1, "x", "accepted: every record is"),
        ("none", 1, "x", "not accepted because no record is: nothing meets it"),
    ],
)
def test_of_a_tuple_the_verdict_comes_first_then_the_terms_of_that_query_alone(
    query_id: str, delay: int | None, city: str | None, text: str
) -> None:
    plan = compile_plan(QUERIES)
    found = explain(plan, query_id, values(plan, delay, city))
    assert found.text == text
    assert found.accepted is text.startswith("accepted")
    whole = explain(plan, query_id, values(plan, delay, city), whole=True)
    assert whole.accepted is found.accepted
    assert whole.text.startswith(f"{text}\n{query_id}")


def test_a_verdict_over_many_conjuncts_names_a_few() -> None:
    conjuncts = tuple(((DELAY, Constraint((((i, 0), (i, 1)),))),) for i in range(9))
    plan = compile_plan([Query("many", Predicate("", conjuncts))])
    text = explain(plan, "many", [pa.scalar(99, pa.int32())]).text
    first, *rest = text.splitlines()
    assert (first.count(" fails ("), len(rest)) == (3, 18)
    assert first.endswith(", and 6 conjuncts more do not hold")


def test_queries_in_no_construct() -> None:
    plan = compile_plan(QUERIES)
    assert explain(plan, "all").text == "all accepts every record: it is in no construct"
    assert explain(plan, "none").text == "none accepts no record: it is in no construct"
    with pytest.raises(PlanError, match="unknown query 'nobody'"):
        explain(plan, "nobody")
