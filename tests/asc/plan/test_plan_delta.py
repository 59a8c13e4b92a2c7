"""Which of the queries that are added go into bitmaps, and which are listed, under their handles."""

from __future__ import annotations

from asc.plan.compiler import compile_plan
from asc.plan.index_choice import IndexChoice
from asc.plan.plan import CompileOptions, Query
from asc.plan.plan_delta import PlanDelta
from asc.predicate import normalise
from asc.schema import Schema

SCHEMA = Schema.from_ddl("s STRING, n BIGINT, alt INT, lon DOUBLE, lat DOUBLE")
FENCE = "ST_Contains(ST_PolygonFromEnvelope(6, 45, 8, 47), ST_Point(lon, lat))"


def queries(*wheres: str) -> list[Query]:
    return [Query(f"q{number}", normalise(where, SCHEMA)) for number, where in enumerate(wheres)]


def test_shapes_are_listed_and_values_where_a_plan_lists_such() -> None:
    own = queries("n = 7 AND alt > 3", FENCE, "alt > 3", "true", "n = 8 OR n = 15")
    alone = PlanDelta.of(own, 100)
    assert [handle for handle, _ in alone.in_bitmaps] == [100, 102, 103, 104]
    assert [(str(block.listed.sql)[:12], len(block)) for block in alone.listed] == [("named_struct", 1)]
    # What no plan has listed is no matter of a change.
    plan = compile_plan(queries(*(f"n = {number}" for number in range(20))), CompileOptions(listed_conjuncts=10))
    beside = PlanDelta.of(own, 20, IndexChoice(plan.listed))
    assert [handle for handle, _ in beside.in_bitmaps] == [22, 23]
    by_name = {str(block.listed): block for block in beside.listed}
    assert sorted(set(by_name["n"].table.owner.tolist())) == [20, 24]
    assert [handle for handle, _ in beside.conjuncts] == [22]


def test_constants_are_those_of_bitmaps_alone() -> None:
    own = queries("s = 'a' AND alt > 1", f"{FENCE} AND s = 'b'")
    slots = {attribute: slot for slot, attribute in enumerate(own[0].predicate.p_attributes)}
    text = next(slot for attribute, slot in slots.items() if attribute.sql == "s")
    assert PlanDelta.of(own, 0).byte_constants(slots) == {text: {b"a"}}
