"""Blocks: the bits of conjuncts that come and go, and the order of the constructs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import PlanError
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.keys.grid import Grid
from asc.plan.block import WORD, Block, build_block, packed, static_sequence
from asc.plan.conjuncts import ConjunctTable, encoded
from asc.plan.construct import Words

A, B = (PAttribute(name, pa.int32(), (name,)) for name in "ab")
SLOTS = {A: 0, B: 1}
GRIDS = (Grid.of_constants(np.array([3, 5])), Grid.of_constants(np.array([5, 7])))


def over(attribute: PAttribute, low: int) -> tuple[PAttribute, Constraint]:
    return attribute, Constraint((((low, 1), None),))


def table(*conjuncts: tuple[tuple[PAttribute, Constraint], ...], first: int = 0) -> ConjunctTable:
    return encoded(enumerate(conjuncts, first), SLOTS, {})


@pytest.fixture
def block() -> Block:
    return build_block(table((over(A, 5),), (over(A, 3), over(B, 5))), GRIDS, 1)


def bits(block: Block, construct: int, region: int) -> list[int]:
    row = block.matrix[int(block.bases[construct]) + 1 + region]
    return [int(row[0]) >> bit & 1 for bit in range(3)]


def test_a_bit_is_where_its_constraint_admits_the_region(block: Block) -> None:
    assert block.conjunct_count == 2
    assert [int(qub[0]) for qub in block.qubs] == [0b11, 0b10]
    # a: below 3, 3, between, 5, above, NULL; the third bit has no conjunct and rules nothing out.
    assert [bits(block, 0, region) for region in range(6)] == [
        [0, 0, 1],
        [0, 0, 1],
        [0, 1, 1],
        [0, 1, 1],
        [1, 1, 1],
        [0, 0, 1],
    ]


def test_the_most_selective_construct_comes_first(block: Block) -> None:
    assert block.sequence.tolist() == static_sequence(block) == [0, 1]


def test_conjuncts_that_are_gone_leave_free_bits(block: Block) -> None:
    less = block.without(np.array([1], dtype=np.int32))
    assert less.conjunct_count == 1
    assert less.table.owner[:3].tolist() == [0, -1, -1]
    assert [bits(less, 0, region)[1] for region in range(6)] == [1] * 6
    assert block.conjunct_count == 2


def test_conjuncts_that_come_are_as_if_built_with_the_others(block: Block) -> None:
    grown = block.with_conjuncts(table((over(B, 7),), first=2), GRIDS, np.array([2]))
    whole = build_block(table((over(A, 5),), (over(A, 3), over(B, 5)), (over(B, 7),)), GRIDS, 1)
    assert np.array_equal(grown.matrix, whole.matrix)
    assert grown.table.owner.tolist() == whole.table.owner.tolist()


def test_a_construct_that_comes_with_a_conjunct_is_last(block: Block) -> None:
    alone = build_block(table((over(B, 5),)), GRIDS, 1)
    alone = alone.with_order(alone.order_of([0], [(0, 2, 0)]))
    grown = alone.with_conjuncts(table((over(A, 5),), first=1), GRIDS, np.array([1]))
    assert grown.slots.tolist() == [1, 0]
    assert grown.sequence.tolist() == [0, 1]
    assert grown.micro_arrows() == [(0, 2, 0)]
    assert len(grown.arrows) == len(grown.matrix)


def test_room_for_more_changes_no_bit(block: Block) -> None:
    wide = block.widened(3)
    assert (wide.capacity, wide.conjunct_count) == (3 * WORD, 2)
    assert np.array_equal(wide.matrix[:, :1], block.matrix)
    assert not wide.qubs[:, 1:].any()


def test_orders(block: Block) -> None:
    ordered = block.with_order(block.order_of([1, 0], [(0, 5, 1), (1, 0, 0)]))
    assert ordered.matrix is block.matrix
    assert ordered.sequence.tolist() == [1, 0]
    assert ordered.micro_arrows() == [(0, 5, 1), (1, 0, 0)]
    assert block.micro_arrows() == []
    with pytest.raises(PlanError, match="the block has 1 constructs"):
        build_block(table((over(A, 5),)), GRIDS, 1).with_order(ordered.order)


def doubts_of(block: Block) -> Words:
    assert block.verification_masks is not None
    assert block.verification_masks.words.any(axis=1).all()
    return block.verification_masks.dense()


def test_what_a_region_admits_in_part_is_in_doubt() -> None:
    grids = (Grid.of_cuts(np.array([0, 10, 20, 30]), 4),)
    # Regions: below 0, 0 to 9 or 19, to 29, from 30 on; a dozen conjuncts are left over by most tuples.
    ranges = [(0, 29), (-5, 35), (12, 13), *[(0, 40)] * 12]
    conjuncts = [((A, Constraint((((low, 0), (high, 1)),), null=low == 12)),) for low, high in ranges]
    built = build_block(table(*conjuncts[:-1]), grids, 1)
    grown = built.without(np.array([3], dtype=np.int32)).with_conjuncts(
        table(conjuncts[-1], first=14), grids, np.array([3])
    )
    for block in (
        built,
        grown,
        built.widened(2),
        built.with_conjuncts(table((over(B, 5),), first=20), (*grids, GRIDS[1]), np.array([14])),
    ):
        base = int(block.bases[0]) + 1
        boundaries = [-(2**63), *grids[0].boundaries.tolist(), 2**63]
        for region, (start, end) in enumerate(pairwise(boundaries)):
            for bit, (low, high) in enumerate(ranges[:3]):
                possible, doubt = (int(rows[base + region][0]) >> bit & 1 for rows in (block.matrix, doubts_of(block)))
                assert possible == (low < end and start <= high)
                assert doubt == (possible and not (low <= start and end - 1 <= high))
        nulls = (rows[base + grids[0].regions] for rows in (block.matrix, doubts_of(block)))
        assert [[int(own[0]) >> bit & 1 for bit in range(3)] for own in nulls] == [[0, 0, 1], [0, 0, 0]]
        assert not doubts_of(block)[0].any()
        assert not (doubts_of(block) & ~block.matrix).any()
    assert np.array_equal(doubts_of(grown), doubts_of(built))


def test_few_survivors_are_verified() -> None:
    grids = (Grid.of_cuts(np.array([0, 10, 20, 30]), 4),)
    narrow = [((A, Constraint((((3, 0), (4, 1)),))),)] * 9
    assert build_block(table(*narrow), grids, 1).verification_masks is None


@given(st.lists(st.booleans(), min_size=128, max_size=128))
def test_packed_bits(drawn: list[bool]) -> None:
    words = packed(np.array(drawn))
    assert [bool(int(words[bit // 64]) >> bit % 64 & 1) for bit in range(128)] == drawn
