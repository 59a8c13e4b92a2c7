"""The arrays of blocks and their orders: of the same types whatever the plan, so that no kernel is compiled anew."""

from __future__ import annotations

import numba
import pytest

from asc.plan.block import Block
from asc.plan.block_arrays import BlockArrays, HybridArrays, SequenceArrays
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.parts import Part, parts_of, plan_of
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.schema import Schema

SCHEMA = Schema.from_ddl("n INT, m INT")
VERIFIED = CompileOptions(exact_bytes=0, exact_regions=2, bounded_regions=2, bounded_rows=0)


def query(number: int) -> Query:
    return Query(f"q{number}", normalise(f"n > {number} AND m < {number}", SCHEMA))


def plans() -> list[Plan]:
    """Return plans with and without verification, one that was changed, and one that was stored and read."""
    queries = [query(number) for number in range(70)]
    exact, verified = compile_plan(queries), compile_plan(queries, VERIFIED)
    changed = change_plan(verified, [query(number) for number in range(70, 80)], ["q3"])
    stored = plan_of([Part.from_bytes(part.to_bytes()) for part in parts_of(changed)])
    return [exact, verified, changed, stored]


def blocks() -> list[Block]:
    return [block for plan in plans() for block in plan.blocks]


@pytest.mark.parametrize("kind", ["block", "sequence", "hybrid"])
def test_the_arrays_of_every_plan_have_the_same_types(kind: str) -> None:
    of = {"block": BlockArrays.of, "sequence": SequenceArrays.of, "hybrid": HybridArrays.of}
    assert {block.verification_masks is None for block in blocks()} == {True, False}
    assert len({numba.typeof(of[kind](block)) for block in blocks()}) == 1


def test_the_arrays_are_those_of_the_block_and_are_not_copied() -> None:
    for block in blocks():
        arrays = BlockArrays.of(block)
        table = block.table
        own = [arrays.matrix, arrays.groups, *arrays.table[:5]]
        read = [block.matrix, block.groups, table.first, table.code, table.low, table.high, table.owner]
        assert all(one is other for one, other in zip(own, read, strict=True))
        assert arrays.verifies == table.has_inexact


def test_a_sequence_is_filled_up_with_what_changes_nothing() -> None:
    for block in blocks():
        sequence = SequenceArrays.of(block)
        constructs = len(block.sequence)
        assert (sequence.constructs, len(sequence.slots) % 4, len(sequence.bases) % 4) == (constructs, 0, 0)
        assert sequence.slots[:constructs].tolist() == block.slots[block.sequence].tolist()
        assert set(sequence.slots[constructs:].tolist()) == {-1}
        assert set(sequence.bases[constructs:].tolist()) == {0}
