"""Destinations of the handoff ``fold`` in plans."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from asc.errors import PlanError
from asc.keys.attribute import PAttribute
from asc.plan.compiler import compile_plan
from asc.plan.destination import Destination
from asc.plan.plan import Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.operators.feed_destination import destinations_in, routed_topics
from broker.operators.fold_destination import FoldColumn, FoldDestination, folds_in

TYPES = (
    *(pa.bool_(), pa.int8(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.date32()),
    *(pa.decimal128(38, 6), pa.timestamp("us", tz="UTC"), pa.timestamp("us")),
)
COLUMNS = tuple(
    FoldColumn(f"c {place}", PAttribute(f"f(c{place})" if place else "c0", own, None if place else ("c0",)))
    for place, own in enumerate(TYPES)
)
OWN = FoldDestination("echo", "late", "asc.late", "unix_micros(t)", COLUMNS, {"grain": 60, "é": ["x"]})


def test_a_destination_is_read_back_as_it_was_written() -> None:
    found = FoldDestination.of(OWN.in_plan())
    assert (found.op, found.id, found.topic, found.time) == (OWN.op, OWN.id, OWN.topic, OWN.time)
    assert (found.columns, found.definition) == (COLUMNS, OWN.definition)
    assert found.in_plan() == OWN.in_plan()


def test_the_time_is_the_first_expression_and_each_is_there_once() -> None:
    twice = replace(OWN, columns=(COLUMNS[1], COLUMNS[1], FoldColumn("time", PAttribute(OWN.time, pa.int64()))))
    assert [own.sql for own in twice.attributes] == ["unix_micros(t)", "f(c1)"]


def test_another_form_is_refused_in_one_line() -> None:
    with pytest.raises(PlanError, match=r"form of the destination of query 'late'.*1 is known"):
        FoldDestination.of(replace(OWN.in_plan(), form=7))


def test_a_plan_has_queries_of_each_handoff() -> None:
    predicate = normalise("n > 1", Schema.from_ddl("n INT"))
    plain = '{"track":["t","events","k","t",[],null,true,true],"query":{},"conditions":[]}'
    events = Destination("near", "events", 2, "t", "s", plain)
    queries = [("a", "u", None), ("late", "asc.late", OWN.in_plan()), ("near", "n", events)]
    plan = compile_plan([Query(name, predicate, topic, own) for name, topic, own in queries])
    assert [own.id for own in folds_in(plan)] == ["late"]
    assert routed_topics(plan) == {"u"}
    without = compile_plan([Query(name, predicate, topic, own) for name, topic, own in queries[:2]])
    assert destinations_in(without) == []
