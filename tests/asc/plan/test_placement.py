"""Placement: added queries fill what is free, side by side, before anything grows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.keys.grid import Grid
from asc.plan.block import Block
from asc.plan.conjuncts import ConjunctTable, encoded
from asc.plan.placement import placed, words_of
from asc.plan.plan import CompileOptions

A = PAttribute("a", pa.int32(), ("a",))
GRIDS = (Grid.of_cuts(np.array([0]), 4),)
OPTIONS = CompileOptions(block_conjuncts=512)


def queries(lengths: list[int], first: int = 0) -> ConjunctTable:
    """Queries of so many conjuncts each."""
    conjunct = ((A, Constraint((((0, 1), None),))),)
    owners = (handle for handle, length in enumerate(lengths, first) for _ in range(length))
    return encoded(((owner, conjunct) for owner in owners), {A: 0}, {})


def owners(block: Block) -> list[int]:
    return block.table.owner.tolist()


@pytest.mark.parametrize(("bits", "words"), [(0, 1), (1, 1), (64, 1), (65, 2), (512, 8)])
def test_words(bits: int, words: int) -> None:
    assert words_of(bits) == words


def test_the_first_free_bits_that_stand_side_by_side() -> None:
    (block,) = placed([], queries([2] * 128), GRIDS, OPTIONS)
    assert block.capacity == 256
    freed = block.without(np.array([3, 5, 6], dtype=np.int32))
    (filled,) = placed([freed], queries([3, 2], first=128), GRIDS, OPTIONS)
    assert owners(filled)[6:8] == [129, 129]
    assert owners(filled)[10:14] == [128, 128, 128, -1]


def test_the_last_block_grows_before_another_begins() -> None:
    blocks = placed([], queries([1] * 200), GRIDS, OPTIONS)
    more = placed(blocks, queries([1] * 200, first=200), GRIDS, OPTIONS)
    assert [block.capacity for block in more] == [512]
    beyond = placed(more, queries([1] * 200, first=400), GRIDS, OPTIONS)
    assert [block.conjunct_count for block in beyond] == [512, 88]
    assert blocks[0].capacity == 256
    assert sorted(owner for block in beyond for owner in owners(block) if owner >= 0) == list(range(600))


def test_a_query_of_more_conjuncts_than_a_block_has_a_larger_one() -> None:
    blocks = placed([], queries([1, 600]), GRIDS, OPTIONS)
    assert [block.conjunct_count for block in blocks] == [1, 600]
