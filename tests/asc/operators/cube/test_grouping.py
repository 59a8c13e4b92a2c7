"""Cells of rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube.grouping import Grouping, pane_digit
from asc.operators.cube.kernels import hash_keys

RADICES = st.lists(st.sampled_from([1, 2, 3, 70_000, 2**31 - 1]), max_size=5)


def grouping(digits: list[tuple[list[int], int]], rows: list[int]) -> Grouping:
    codes = [(np.array(own, dtype=np.int32), radix) for own, radix in digits]
    places = np.array(rows, dtype=np.int64)
    places.setflags(write=False)
    for own, _ in codes:
        own.setflags(write=False)
    return Grouping.of(codes, len(places), places)


@given(data=st.data(), radices=RADICES, count=st.integers(1, 30))
def test_cells_are_numbered_in_the_order_of_their_keys(data: st.DataObject, radices: list[int], count: int) -> None:
    own = [st.sampled_from(sorted({0, radix // 2, radix - 1})) for radix in radices]
    rows = data.draw(st.lists(st.tuples(*own), min_size=count, max_size=count))
    taken = sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=1)))
    digits = [([row[place] for row in rows], radix) for place, radix in enumerate(radices)]
    found = grouping(digits, taken)
    keys = sorted({rows[place] for place in taken})
    assert found.count == len(keys)
    assert [keys[cell] for cell in found.cells.tolist()] == [rows[place] for place in taken]
    firsts = [next(i for i, place in enumerate(taken) if rows[place] == key) for key in keys]
    assert found.firsts.tolist() == firsts


def test_more_keys_than_64_bits_have_are_told_apart_and_ordered() -> None:
    last = 2**31 - 2
    rows = [(last, 0, 0, 1), (0, last, last, last), (last, 0, 0, 0), (0, last, last, 0), (0, 0, last, last)]
    digits = [([row[place] for row in rows], 2**31 - 1) for place in range(4)]
    found = grouping(digits, [0, 1, 2, 3, 4])
    assert found.cells.tolist() == [4, 2, 3, 1, 0]


def test_many_rows_of_many_keys() -> None:
    draw = np.random.default_rng(2)
    codes = draw.integers(0, 2**31 - 2, 50_000).astype(np.int32)
    others = draw.integers(0, 1_000, 50_000).astype(np.int32)
    rows = np.arange(50_000, dtype=np.int64)
    for array in (codes, others, rows):
        array.setflags(write=False)
    found = Grouping.of([(others, 1_000), (codes, 2**31 - 1)], len(rows), rows)
    whole = others.astype(np.int64) * 2**31 + codes
    different, cells = np.unique(whole, return_inverse=True)
    assert found.count == len(different)
    assert np.array_equal(found.cells, cells)
    assert np.array_equal(whole[found.firsts], different)


@pytest.mark.parametrize("panes", [[5, 3, 5], [-(2**40), 2**40, 0], [7]])
def test_the_digit_of_panes_orders_as_they_do(panes: list[int]) -> None:
    codes, radix = pane_digit(np.array(panes, dtype=np.int64))
    assert np.argsort(codes, kind="stable").tolist() == np.argsort(panes, kind="stable").tolist()
    assert codes.max() < radix


def unmixed(places: list[int], bits: int) -> list[int]:
    """Return the keys below 2**62 whose mixed bits begin with a place of a table, one after another."""
    mask, found = 2**64 - 1, []
    undo_1, undo_2 = (pow(factor, -1, 2**64) for factor in (0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB))
    for low, place in enumerate(places):
        mixed = place << (64 - bits) | low
        mixed ^= mixed >> 31 ^ mixed >> 62
        mixed = mixed * undo_2 & mask
        mixed ^= mixed >> 27 ^ mixed >> 54
        mixed = mixed * undo_1 & mask
        mixed ^= mixed >> 30 ^ mixed >> 60
        if mixed < 2**62:
            found.append(mixed)
    return found


def probed(keys: list[int], probes_max: int) -> int:
    own = np.array(keys, dtype=np.int64)
    bits = (2 * len(keys) - 1).bit_length()
    cells, firsts = (np.empty(len(keys), dtype=np.int32) for _ in range(2))
    return hash_keys(own, np.zeros(1 << bits, dtype=np.int32), probes_max, cells, firsts)


def test_keys_with_one_small_product_are_spread_over_the_table() -> None:
    # Multiples of the inverse of a factor: products with it are small, and so begin with equal bits.
    inverse = pow(0x9E37_79B9_7F4A_7C15, -1, 2**64)
    keys = [key for place in range(40_000) if (key := inverse * place % 2**64) < 2**62]
    assert len(keys) > 5_000
    assert probed(keys, 16 * len(keys)) == len(keys)


def test_keys_that_all_meet_in_the_table_are_sorted_after_a_bounded_number_of_probes() -> None:
    keys = unmixed([7] * 80_000, 16)
    assert len(keys) > 16_384
    # The table of so many keys has 2**16 slots.
    keys = keys[:20_000]
    assert probed(keys, 16 * len(keys) + 4_096) == -1
    rows = keys * 2
    found = grouping(
        [([key >> 31 for key in rows], 2**31 - 1), ([key & 2**31 - 1 for key in rows], 2**31)], [*range(len(rows))]
    )
    different, cells = np.unique(np.array(rows), return_inverse=True)
    assert found.count == len(different) == len(keys)
    assert np.array_equal(found.cells, cells)
    assert np.array_equal(np.array(rows)[found.firsts], different)
    assert found.firsts.max() < len(keys)
