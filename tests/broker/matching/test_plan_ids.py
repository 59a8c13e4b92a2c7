"""Ids of plans: queries themselves, and members of joins."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.matching.plan_ids import (
    RegisteredIds,
    header_texts,
    join_shapes_in,
    member_id,
    members_in,
    registered_id,
    shape_of,
)

SHAPES = ["CHE", "a/b", "a|b", "|", "/", "Ø 1", "x-y"]


@pytest.mark.parametrize("per_shape", [False, True])
def test_an_id_says_its_join_and_shape(per_shape: bool) -> None:
    for shape in SHAPES:
        found = member_id("over.x-1", shape, per_shape=per_shape)
        assert (registered_id(found), shape_of(found, "over.x-1")) == ("over.x-1", shape)
        assert header_texts(pa.array([found])).to_pylist() == [f"over.x-1/{shape}"]


def test_members_are_found_among_ids_that_begin_alike() -> None:
    schema = Schema.from_ddl("n INT")
    ids = [member_id("over", shape, per_shape=False) for shape in SHAPES]
    others = ["ove", "over", "over-x", "over.y", "over0", "overt", "over1/CHE", "over-x/CHE", "ov/er"]
    plan = compile_plan([Query(name, normalise("n > 3", schema)) for name in [*ids, *others]])
    assert join_shapes_in(plan) == len(SHAPES) + 3
    assert join_shapes_in(compile_plan(())) == 0
    assert members_in(plan, "over") == sorted(ids, key=str.encode)
    assert members_in(plan, "over-x") == ["over-x/CHE"]
    assert members_in(plan, "overt") == members_in(plan, "none") == members_in(compile_plan(()), "over") == []


def test_registered_ids_of_plans() -> None:
    plain = pa.array(["a", "b"])
    found = RegisteredIds.of(plain)
    assert found.ids is plain
    assert found.owner is None
    ids = pa.array(sorted(["a", "j/1", "j/2", "j-x", "p|1/2", "p|3", "z"]))
    found = RegisteredIds.of(ids)
    assert found.owner is not None
    assert found.is_pair is not None
    assert found.is_member is not None
    assert found.ids.take(pa.array(found.owner)).to_pylist() == [registered_id(one) for one in ids.to_pylist()]
    assert ids.filter(pa.array(found.is_pair)).to_pylist() == ["p|1/2", "p|3"]
    assert ids.filter(pa.array(found.is_member)).to_pylist() == ["j/1", "j/2", "p|1/2", "p|3"]
