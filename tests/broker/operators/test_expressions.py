"""The expressions of a plan: those of predicates, then those of operators, each once."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.keys.attribute import PAttribute
from asc.operators.feed import EventQuery, NearQuery
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.operators.events.definition import EventsOperator
from broker.operators.expressions import conditions_of, expressions_of, expressions_of_destination
from broker.operators.fed_destination import FedDestination, Track
from broker.operators.near.definition import NearOperator
from broker.operators.query_operator import QueryOperator

SCHEMA = Schema.from_ddl("n INT, s STRING")
EVENTS = Track("upper(s)", "unix_micros(t)")
NEAR = Track("upper(s)", "unix_micros(u)", ("CAST((n) AS DOUBLE)", "CAST((m) AS DOUBLE)"), (("`n`", "`n`"),))
TO_EVENTS = FedDestination("feed", EVENTS, EventQuery("e", "out", EVENTS.name, ("enter",), 0, 1))
TO_NEAR = FedDestination("feed", NEAR, NearQuery("near", "out", NEAR.name, ("pair",), 5, 30, 10, "a.n < b.n"))


def query(query_id: str, where: str, topic: str) -> Query:
    return Query(query_id, normalise(where, SCHEMA), topic)


def test_operators_expressions_follow_the_p_attributes_and_what_both_compute_is_there_once() -> None:
    plan = compile_plan(
        [
            query("r", "upper(s) = 'A' AND n > 3", "out"),
            query("e", "n > 1", TO_EVENTS.text()),
            query("near", "n > 2", TO_NEAR.text()),
        ]
    )
    found = expressions_of(plan)
    assert found[: len(plan.p_attributes)] == plan.p_attributes
    assert {one.sql for one in plan.p_attributes} == {"n", "upper(s)"}
    assert [one.sql for one in found if one.is_computed] == [
        "upper(s)",
        "unix_micros(t)",
        "unix_micros(u)",
        "CAST((n) AS DOUBLE)",
        "CAST((m) AS DOUBLE)",
        "to_json(named_struct('`n`', `n`))",
    ]


def test_a_plan_without_operators_has_its_p_attributes() -> None:
    plan = compile_plan([query("r", "upper(s) = 'A' AND n > 3", "out")])
    assert expressions_of(plan) == plan.p_attributes


def test_expressions_have_the_types_that_a_batch_computes() -> None:
    text, whole, number = pa.string(), pa.int64(), pa.float64()
    assert [one.type for one in expressions_of_destination(TO_EVENTS)] == [text, whole]
    assert [one.type for one in expressions_of_destination(TO_NEAR)] == [text, whole, number, number, text]
    assert PAttribute("upper(s)", text) in expressions_of_destination(TO_EVENTS)


@pytest.mark.parametrize(
    ("operator", "conditions"),
    [
        (EventsOperator("s"), ()),
        (NearOperator("s", 5, 30, 10), ()),
        (NearOperator("s", 5, 30, 10, on="a.n < b.n"), ("a.n < b.n",)),
    ],
)
def test_only_near_queries_have_conditions(operator: QueryOperator, conditions: tuple[str, ...]) -> None:
    assert conditions_of(operator) == conditions
