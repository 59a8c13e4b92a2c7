"""The expressions of a plan: those of predicates, then those of operators, each once."""

from __future__ import annotations

import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.operators.feed import QuerySettings
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.operators.feed_destination import FeedDestination, Track
from broker.operators.fold_destination import FoldColumn, FoldDestination
from broker.operators.plan_expressions import expressions_of, expressions_of_destination

SCHEMA = Schema.from_ddl("n INT, s STRING")
EVENTS = Track("7f", "events", "upper(s)", "unix_micros(t)", (), None, observes_all=True, by_key=True)
NEAR = Track(
    *("n3", "near", "upper(s)", "unix_micros(u)", ("CAST((n) AS DOUBLE)", "CAST((m) AS DOUBLE)"), (("`n`", "`n`"),)),
    observes_all=False,
    by_key=False,
)
TO_EVENTS = FeedDestination(EVENTS, QuerySettings("e", "out", "7f", EVENTS.time_name, ("s1",), {}))
TO_FOLD = FoldDestination(
    *("cube", "f", "out", "unix_micros(u)"),
    (FoldColumn("S", PAttribute("upper(s)", pa.string())), FoldColumn("m", PAttribute("m", pa.int32(), ("m",)))),
    {},
)
TO_NEAR = FeedDestination(NEAR, QuerySettings("near", "out", "n3", NEAR.time_name, ("s2",), {}), ("a.n < b.n",))


def query(query_id: str, where: str, to: FeedDestination | FoldDestination | None = None) -> Query:
    return Query(query_id, normalise(where, SCHEMA), "out", None if to is None else to.in_plan())


def test_operators_expressions_follow_the_p_attributes_and_what_both_compute_is_there_once() -> None:
    plan = compile_plan(
        [
            query("r", "upper(s) = 'A' AND n > 3"),
            query("e", "n > 1", TO_EVENTS),
            query("near", "n > 2", TO_NEAR),
            query("f", "n > 2", TO_FOLD),
        ]
    )
    found = expressions_of(plan)
    assert found[: len(plan.p_attributes)] == plan.p_attributes
    assert {one.sql for one in plan.p_attributes} == {"n", "upper(s)"}
    assert [one for one in found if one.path == ("m",)] == [PAttribute("m", pa.int32(), ("m",))]
    assert [one.sql for one in found if one.is_computed] == [
        "upper(s)",
        "unix_micros(t)",
        "unix_micros(u)",
        "CAST((n) AS DOUBLE)",
        "CAST((m) AS DOUBLE)",
        "to_json(named_struct('`n`', `n`))",
    ]


def test_a_plan_without_operators_has_its_p_attributes() -> None:
    plan = compile_plan([query("r", "upper(s) = 'A' AND n > 3")])
    assert expressions_of(plan) == plan.p_attributes


def test_expressions_have_the_types_that_a_batch_computes() -> None:
    text, whole, number = pa.string(), pa.int64(), pa.float64()
    assert [one.type for one in expressions_of_destination(TO_EVENTS)] == [text, whole]
    assert [one.type for one in expressions_of_destination(TO_NEAR)] == [text, whole, number, number, text]
    assert [one.sql for one in expressions_of_destination(TO_FOLD)] == ["unix_micros(u)", "upper(s)", "m"]
    assert PAttribute("upper(s)", text) in expressions_of_destination(TO_EVENTS)
