"""Shards of cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.shards import BITS_MOST, SHARDS_MOST, Shards, expected, shard_name

changes = st.lists(st.tuples(st.booleans(), st.integers(0, SHARDS_MOST)), max_size=100)


def changed(steps: list[tuple[bool, int]]) -> Shards:
    """Return the shards after splits (True) and merges of the shards with some indices, as far as they are allowed."""
    shards = Shards()
    for is_split, place in steps:
        parents = list(shards.parents())
        number = shards.numbers[place % len(shards)]
        if is_split and shards.can_split(number):
            shards = shards.split(number)
        elif not is_split and parents:
            shards = shards.merged(parents[place % len(parents)])
    return shards


@given(steps=changes, places=st.lists(st.integers(0, 2**64 - 1), max_size=40))
def test_each_place_is_in_the_shard_with_whose_bits_it_begins(steps: list[tuple[bool, int]], places: list[int]) -> None:
    shards = changed(steps)
    assert 1 <= len(shards) <= SHARDS_MOST
    assert Shards.of(list(reversed(shards.numbers))) == shards
    rows_by_shard = dict(shards.divided(np.array(places, dtype=np.uint64)))
    assert sorted(row for rows in rows_by_shard.values() for row in rows.tolist()) == list(range(len(places)))
    for number, rows in rows_by_shard.items():
        assert rows.tolist() == sorted(rows.tolist())
        name = "" if number == 1 else shard_name(number)
        assert all(f"{places[row]:064b}".startswith(name) for row in rows.tolist())
    assert sum(expected(1 << BITS_MOST, 1, number) for number in shards.numbers) == 1 << BITS_MOST


@given(steps=changes)
def test_a_merge_undoes_a_split(steps: list[tuple[bool, int]]) -> None:
    shards = changed(steps)
    for number in filter(shards.can_split, shards.numbers):
        assert shards.split(number).merged(number) == shards
    for parent in shards.parents():
        assert shards.merged(parent).split(parent) == shards


def test_more_shards_or_bits_than_the_bound_are_refused() -> None:
    deep = Shards()
    for _ in range(BITS_MOST):
        deep = deep.split(deep.numbers[0])
    assert not deep.can_split(deep.numbers[0])
    wide = Shards.of(range(SHARDS_MOST, 2 * SHARDS_MOST))
    for shards in (deep, wide):
        with pytest.raises(CubeError, match=r"shard .* cannot be split: it is no shard, or a bound is reached"):
            shards.split(shards.numbers[0])
    with pytest.raises(CubeError, match="shard '0': cannot be merged: its two halves are not shards"):
        Shards.of([2, 3]).merged(2)


@pytest.mark.parametrize("numbers", [[], [0], [2], [3, 3], [1, 2, 3], [2, 3, 6], [2 << BITS_MOST], [2, 4, 5]])
def test_numbers_that_are_no_division_are_refused(numbers: list[int]) -> None:
    with pytest.raises(CubeError, match="shards"):
        Shards.of(numbers)
