"""Parts of plans: a plan comes back from them, and a change makes few of them new."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from asc.errors import PlanError
from asc.evaluation.executor import match
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan import block, parts
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.parts import Part, parts_of, plan_of
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.schema import Schema
from workloads.mixed import mixed_workload

if TYPE_CHECKING:
    from conftest import ListsOf

A = PAttribute("a", pa.int32(), ("a",))
S = PAttribute("s", pa.string(), ("s",))
POSITIVE = Constraint((((0, 1), None),))
OSLO = Constraint((((b"Oslo", 0), (b"Oslo", 1)),))
MANY = mixed_workload(4_000).standing_queries()
IN_BLOCKS = CompileOptions(exact_bytes=0, block_conjuncts=512)


def plan_with(**conjuncts: tuple[PAttribute, Constraint]) -> Plan:
    return compile_plan([Query(query_id, Predicate("", ((one,),))) for query_id, one in conjuncts.items()])


def travelled(found: tuple[Part, ...]) -> list[Part]:
    return [Part.from_bytes(part.to_bytes()) for part in found]


def new_in(plan: Plan, before: tuple[Part, ...]) -> list[str]:
    return [part.kind for part in parts_of(plan, before) if part not in before]


def test_a_plan_travels_and_cannot_be_written(lists_of: ListsOf) -> None:
    plan = plan_with(positive=(A, POSITIVE), oslo=(S, OSLO))
    for copy in (plan, plan_of(parts_of(plan)), plan_of(travelled(parts_of(plan)))):
        matches = match(copy, [pa.array([1, 0], pa.int32()), pa.array(["x", "Oslo"])], 2)
        assert lists_of(matches, copy.query_ids) == [["positive"], ["oslo"]]
        assert copy.p_attributes == plan.p_attributes
        with pytest.raises(ValueError, match="read-only"):
            copy.blocks[0].matrix[0] = 0
        with pytest.raises(ValueError, match="read-only"):
            copy.ranks[0] = 0


def test_a_plan_of_no_query_travels() -> None:
    assert len(plan_of(travelled(parts_of(compile_plan(()))))) == 0


def test_the_order_of_a_block_travels_in_the_head_alone() -> None:
    plan = plan_with(positive=(A, POSITIVE), oslo=(S, OSLO))
    before = parts_of(plan)
    ordered = plan.with_orders({0: plan.blocks[0].order_of([1, 0], [(0, 1, 1)])})
    assert new_in(ordered, before) == ["head"]
    for one in (plan, ordered):
        copy = plan_of(travelled(parts_of(one, before))).blocks[0].order
        assert copy.sequence.tolist() == one.blocks[0].sequence.tolist()
        assert copy.arrows.tolist() == one.blocks[0].arrows.tolist()


def test_a_change_of_one_query_makes_one_block_and_one_page_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PAGE", 256)
    plan = compile_plan(MANY[:3_900], IN_BLOCKS)
    before = parts_of(plan)
    assert [part.kind for part in before].count("ids") > 5
    removed = change_plan(plan, remove=[MANY[2_000].id])
    assert new_in(removed, before) == ["head", "block", "ids"]
    after = parts_of(removed, before)
    replaced = change_plan(removed, add=[Query(MANY[9].id, MANY[4].predicate, "out-1")])
    # The block that it leaves, and the one that has room where it is at home now.
    assert sorted(new_in(replaced, after)) in (["block", "head", "ids"], ["block", "block", "head", "ids"])
    named = change_plan(removed, add=[Query(MANY[9].id, MANY[4].predicate, "another")])
    assert set(new_in(named, after)) == {"block", "head", "ids", "topics"}
    assert new_in(named, after).count("block") <= 2


def test_a_new_constant_makes_the_dictionary_of_its_attribute_new() -> None:
    attribute = next(a for q in MANY for c in q.predicate.conjuncts for a, _ in c if a.type == pa.string())
    plan = compile_plan(MANY, IN_BLOCKS)
    unheard = Predicate("", (((attribute, Constraint((((b"unheard", 0), (b"unheard", 1)),))),),))
    assert sorted(new_in(change_plan(plan, [Query("x", unheard)]), parts_of(plan))) == [
        "block",
        "head",
        "ids",
        "slot",
        "topics",
    ]


def test_pages_stay_short_and_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PAGE", 64)
    plan = compile_plan(MANY[:1_000], IN_BLOCKS)
    known = parts_of(plan)
    for step in range(12):
        # all of them come and go at one place
        added = [Query(f"q000100-{step}-{i}", MANY[i].predicate) for i in range(60)]
        gone = [query.id for query in MANY[step * 80 : step * 80 + 80]]
        plan = change_plan(plan, added, gone)
        known = parts_of(plan, known)
        pages = [len(part.arrays["handles"]) for part in known if part.kind == "ids"]
        assert sum(pages) == len(plan)
        assert max(pages) <= 128
        assert min(pages[:-1]) >= 16
        copy = plan_of(travelled(known))
        assert copy.query_ids.to_pylist() == plan.query_ids.to_pylist()
        assert copy.topics.to_pylist() == plan.topics.to_pylist()
        assert copy.handles.tolist() == plan.handles.tolist()


def test_bytes_that_are_another_thing_are_no_part() -> None:
    with pytest.raises(PlanError, match="part of a plan"):
        Part.from_bytes(Part({}, {}).to_bytes())


def test_arrays_are_stored_under_the_names_of_earlier_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fields may be named anew, what is stored may not: a daemon begins with what the version before it wrote."""
    monkeypatch.setattr(block, "_MANY_SURVIVORS", 0)
    schema = Schema.from_ddl("n INT, city STRING, lon DOUBLE, lat DOUBLE")
    fence = "ST_Contains(ST_PolygonFromEnvelope(0, 0, 3, 2), ST_Point(lon, lat))"
    texts = ("n BETWEEN 3 AND 9", "city LIKE '%s%'", fence, f"NOT {fence}")
    queries = [Query(f"q{place}", normalise(text, schema)) for place, text in enumerate(texts)]
    regions = CompileOptions(exact_bytes=0, exact_regions=1, bounded_regions=1, bounded_rows=1)
    names = {part.kind: set(part.arrays) for part in parts_of(compile_plan(queries, regions))}
    masks = {"doubts.places", "doubts.words"}
    postings = {f"members.{name}" for name in ("slots", "base", "labels", "bits", "more", "others")}
    assert names["block"] > masks | postings | {"members.first_label", "members.first_bit", "members.first_other"}
    index = (
        "square",
        "starts",
        "shifts",
        "parents",
        "first",
        "places",
        "told",
        "near_first",
        "edges",
        "spots",
        "inside",
    )
    assert names["listed"] > {f"index.{name}" for name in index} < names["shapes"]


def test_parts_that_are_not_of_one_plan_are_refused() -> None:
    whole = parts_of(plan_with(positive=(A, POSITIVE), oslo=(S, OSLO)))
    for excluded in range(len(whole)):
        with contextlib.suppress(PlanError):
            plan_of([part for place, part in enumerate(whole) if place != excluded])
    with pytest.raises(PlanError, match="parts of a plan"):
        plan_of(whole[1:])
