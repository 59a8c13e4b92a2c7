"""Placement: added queries fill what is free, side by side, before anything grows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.keys.grid import Grid
from asc.plan.block import Block, build_block
from asc.plan.conjuncts import ConjunctTable, encoded
from asc.plan.grouping import NOWHERE, Homes
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
    assert block.capacity == 512
    freed = block.without(np.array([3, 5, 6], dtype=np.int32))
    (filled,) = placed([freed], queries([3, 2], first=128), GRIDS, OPTIONS)
    assert owners(filled)[6:8] == [129, 129]
    assert owners(filled)[10:14] == [128, 128, 128, -1]


def test_the_last_block_grows_before_another_begins() -> None:
    blocks = placed([], queries([1] * 200), GRIDS, OPTIONS)
    assert blocks[0].capacity == 512
    options = CompileOptions(block_conjuncts=960)
    more = placed(blocks, queries([1] * 400, first=200), GRIDS, options)
    assert [block.capacity for block in more] == [960]
    beyond = placed(more, queries([1] * 400, first=600), GRIDS, options)
    assert [block.conjunct_count for block in beyond] == [960, 40]
    assert blocks[0].capacity == 512
    assert sorted(owner for block in beyond for owner in owners(block) if owner >= 0) == list(range(1_000))


def test_a_query_goes_to_the_nearest_line_at_its_home() -> None:
    grids = (Grid.of_cuts(np.arange(0, 40_000, 10), 200), Grid.of_cuts(np.arange(4), 8))
    b = PAttribute("b", pa.int32(), ("b",))
    options = CompileOptions(block_conjuncts=2_048)

    def at(keys: range, first: int) -> ConjunctTable:
        own = (((A, Constraint((((key, 0), (key, 1)),))),) for key in keys)
        return encoded(enumerate(own, first), {A: 0, b: 1}, {})

    # Four lines of a home, the first and the third with room.
    full = at(range(0, 20_480, 10), 0)
    built = build_block(full, grids, 32, Homes.of(full, grids).take(np.arange(2_048)))
    freed = built.without(np.array([5, 6, 1_100, 1_101, 1_103], dtype=np.int32))
    (one,) = placed([freed], at(range(12_000, 12_001), 5_000), grids, options)
    assert owners(one)[1_100] == 5_000
    (more,) = placed([one], at(range(20_000, 20_004), 6_000), grids, options)
    assert [owners(more)[bit] for bit in (1_101, 1_103, 5, 6)] == [6_000, 6_001, 6_002, 6_003]
    # There is no more room at its home, and a stranger does not go there, be there room or not.
    stranger = encoded([(300, ((b, Constraint((((1, 0), None),))),))], {A: 0, b: 1}, {})
    for block, table in ((more, at(range(3), 7_000)), (freed, stranger)):
        same, other = placed([block], table, grids, options)
        assert same is block
        assert (other.conjunct_count, other.capacity) == (len(table), 512)
    (_, grown) = placed([more, build_block(at(range(600), 8_000), grids, 10)], at(range(300), 9_000), grids, options)
    assert (grown.conjunct_count, grown.capacity) == (900, 640 + 512)
    assert grown.homes.slots.tolist() == [NOWHERE] * 3


def test_a_query_of_more_conjuncts_than_a_block_has_a_larger_one() -> None:
    blocks = placed([], queries([1, 600]), GRIDS, OPTIONS)
    assert [block.conjunct_count for block in blocks] == [1, 600]


def test_what_completes_a_line_at_a_home_is_not_for_strangers() -> None:
    grids = (Grid.of_cuts(np.arange(0, 7_000, 10), 200), Grid.of_cuts(np.arange(4), 8))
    b = PAttribute("b", pa.int32(), ("b",))
    own = (((A, Constraint((((10 * key, 0), (10 * key, 1)),))),) for key in range(704))
    full = encoded(enumerate(own), {A: 0, b: 1}, {})
    block = build_block(full, grids, 11, Homes.of(full, grids))
    stranger = encoded([(900, ((b, Constraint((((-5, 0), None),))),))], {A: 0, b: 1}, {})
    (grown,) = placed([block], stranger, grids, CompileOptions(block_conjuncts=2_048))
    assert grown.homes.slots.tolist() == [0, 0, NOWHERE]
    assert owners(grown).index(900) == 1_024


def test_a_line_without_room_side_by_side_hides_none_behind_it() -> None:
    grids = (Grid.of_cuts(np.arange(0, 40_000, 10), 200),)
    own = (((A, Constraint((((10 * key, 0), (10 * key, 1)),))),) for key in range(4_096))
    full = encoded(enumerate(own), {A: 0}, {})
    block = build_block(full, grids, 64, Homes.of(full, grids))
    freed = block.without(np.array([*range(0, 3_072, 2), 4_000, 4_001], dtype=np.int32))
    pair = (((A, Constraint((((5, 0), (5, 1)),))),), ((A, Constraint((((7, 0), (7, 1)),))),))
    (filled,) = placed([freed], encoded(((5_000, each) for each in pair), {A: 0}, {}), grids, CompileOptions())
    assert owners(filled)[4_000:4_002] == [5_000, 5_000]
