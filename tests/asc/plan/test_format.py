"""Plans as bytes: they come back as they were, and bytes that are none are refused."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING
from zlib import crc32

import pyarrow as pa
import pytest

from asc.errors import PlanError
from asc.evaluation.executor import match
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.compiler import compile_plan
from asc.plan.format import from_bytes, to_bytes
from asc.plan.plan import Plan, Query
from asc.predicate.normal_form import Predicate

if TYPE_CHECKING:
    from conftest import ListsOf

A = PAttribute("a", pa.int32(), ("a",))
S = PAttribute("s", pa.string(), ("s",))
POSITIVE = Constraint((((0, 1), None),))
OSLO = Constraint((((b"Oslo", 0), (b"Oslo", 1)),))


def plan_of(**conjuncts: tuple[PAttribute, Constraint]) -> Plan:
    return compile_plan([Query(query_id, Predicate("", ((one,),))) for query_id, one in conjuncts.items()])


def test_a_plan_travels_and_cannot_be_written(lists_of: ListsOf) -> None:
    plan = plan_of(positive=(A, POSITIVE), oslo=(S, OSLO))
    for copy in (plan, from_bytes(to_bytes(plan)), from_bytes(memoryview(b"?" + to_bytes(plan))[1:])):
        matches = match(copy, [pa.array([1, 0], pa.int32()), pa.array(["x", "Oslo"])], 2)
        assert lists_of(matches, copy.query_ids) == [["positive"], ["oslo"]]
        assert copy.p_attributes == plan.p_attributes
        with pytest.raises(ValueError, match="read-only"):
            copy.blocks[0].matrix[0] = 0
        with pytest.raises(ValueError, match="read-only"):
            copy.ranks[0] = 0


def summed(rest: bytes) -> bytes:
    return b"ASCPLAN4" + crc32(rest).to_bytes(4, "little") + rest


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nonsense",
        b"ASCPLAN4",
        b"ASCPLAN4" + b"\xff" * 30,
        summed(b""),
        summed(b"\xff" * 40),
        summed(b"\x02\0\0\0{}"),
        summed(b"\x02\0\0\0[]"),
        summed(b'\x14\0\0\0{"arrays":[[1,2,3]]}'),
    ],
)
def test_bytes_that_are_no_plan(data: bytes) -> None:
    with pytest.raises(PlanError, match="plan"):
        from_bytes(data)


def test_bytes_cut_short() -> None:
    data = to_bytes(plan_of(positive=(A, POSITIVE)))
    with pytest.raises(PlanError, match="cut short"):
        from_bytes(data[: len(data) // 2])


def test_any_damaged_byte_is_found() -> None:
    data = to_bytes(plan_of(positive=(A, POSITIVE)))
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= (0x01, 0x10, 0x80)[position % 3]
        with pytest.raises(PlanError, match="plan"):
            from_bytes(bytes(damaged))
        # a sum that fits lies: whatever comes out, no other exception does
        with contextlib.suppress(PlanError):
            from_bytes(summed(bytes(damaged[12:])))


@pytest.mark.parametrize("dtype", ['"," ', '"<M8"', '"|O8"', '"i4,"', "[1]  ", "null "])
def test_an_array_of_a_type_that_no_plan_has_is_refused(dtype: str) -> None:
    data = to_bytes(plan_of(positive=(A, POSITIVE)))
    assert b'"<i4"' in data
    with pytest.raises(PlanError, match="another version wrote them"):
        from_bytes(summed(data[12:].replace(b'"<i4"', dtype.encode())))


def test_the_order_of_a_block_travels() -> None:
    plan = plan_of(positive=(A, POSITIVE), oslo=(S, OSLO))
    ordered = plan.with_orders({0: plan.blocks[0].order_of([1, 0], [(0, 1, 1)])})
    for one in (plan, ordered):
        copy = from_bytes(to_bytes(one)).blocks[0].order
        assert copy.sequence.tolist() == one.blocks[0].sequence.tolist()
        assert copy.arrows.tolist() == one.blocks[0].arrows.tolist()
