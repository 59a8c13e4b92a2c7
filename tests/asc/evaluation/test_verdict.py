"""The verdict of one query over a tuple, by its exact constraints alone."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PlanError
from asc.evaluation.trace import TEXT_CHARS
from asc.evaluation.verdict import failing_term, judged
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate.normal_form.disjunctive_form import Predicate

DELAY = PAttribute("delay", pa.int32(), ("delay",))
CITY = PAttribute("city", pa.string(), ("city",))
LATE = (DELAY, Constraint((((30, 1), None),)))
OSLO = (CITY, Constraint((((b"Oslo", 0), (b"Oslo", 1)),)))
PLAN = compile_plan([Query("either", Predicate("", ((LATE,), (OSLO,)))), Query("late", Predicate("", ((LATE,),)))])


def test_each_term_of_each_conjunct_with_its_value() -> None:
    verdict = judged(PLAN, "either", {DELAY: 45, CITY: b"Bergen"})
    assert (verdict.accepted, verdict.reason, verdict.block) == (True, "accepted: conjunct 1 of 2 holds", 0)
    terms = [(term.constraint, term.value, term.holds) for one in verdict.conjuncts for term in one.terms]
    assert terms == [("delay > 30", "delay = 45", True), ("city = 'Oslo'", "city = 'Bergen'", False)]


def test_only_the_query_s_own_values_are_looked_at() -> None:
    assert judged(PLAN, "late", {DELAY: None}).reason == "not accepted because delay > 30 fails (delay = NULL)"


def test_texts_are_cut() -> None:
    verdict = judged(PLAN, "either", {DELAY: 1, CITY: b"x" * 1_000})
    assert max(len(term.value) for one in verdict.conjuncts for term in one.terms) == TEXT_CHARS


def test_the_term_that_fails_of_some_attribute_or_of_any() -> None:
    keys = {DELAY: 1, CITY: b"Bergen"}
    assert failing_term([LATE, OSLO], keys) == "delay > 30"
    assert failing_term([LATE, OSLO], keys, CITY) == "city = 'Oslo'"
    assert failing_term([LATE], {DELAY: 31}) == ""


def test_an_unknown_query() -> None:
    with pytest.raises(PlanError, match="unknown query 'nobody'"):
        judged(PLAN, "nobody", {})
