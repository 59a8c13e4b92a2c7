"""The lattice: its lengths, its order, and the nearest stored view."""

from __future__ import annotations

from itertools import product
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.definition import checked_grain_s
from asc.operators.cube.lattice import Lattice, is_finer
from asc.operators.cube.view import View

HOURLY = Lattice(Dimensions((("origin", "dest"), ("carrier",))), 3_600)
GRAINS = [own for own in (1, 2, 25, 60, 225, 720, 900, 2_400, 3_600, 7_200, 10_800, 43_200, 86_400) if own != 2_400]


def is_grain(grain_s: int) -> bool:
    try:
        return checked_grain_s(grain_s) == grain_s
    except CubeError:
        return False


@pytest.mark.parametrize("grain_s", GRAINS)
def test_a_length_is_a_grain_up_to_a_day_that_the_cubes_grain_divides(grain_s: int) -> None:
    lattice = Lattice(Dimensions(()), grain_s)
    expected = [own for own in range(grain_s, 86_401, grain_s) if is_grain(own)]
    assert [own * grain_s for own in lattice.lengths] == expected
    assert lattice.panes_a_day == lattice.lengths[-1]
    for one, other in product(lattice.lengths, repeat=2):
        assert gcd(one, other) in lattice.lengths


@pytest.mark.parametrize("grain_s", [60, 3_600, 28_800])
def test_bits_have_the_order_of_the_lattice(grain_s: int) -> None:
    lattice = Lattice(HOURLY.dimensions, grain_s)
    views = list(lattice.views())
    bits = lattice.bits(views)
    assert len(set(bits.tolist())) == len(views) == lattice.count
    assert [lattice.view(own) for own in bits.tolist()] == views
    assert is_finer(bits, bits).tolist() == [[one.is_finer(other) for other in views] for one in views]
    assert all(map(lattice.has, views))
    # The union of bits is the coarsest view that is finer than both.
    for one, other in product(views[::7], views[::5]):
        (found,) = [lattice.view(own) for own in (lattice.bits([one]) | lattice.bits([other])).tolist()]
        common = [view for view in views if view.is_finer(one) and view.is_finer(other)]
        assert found in common
        assert all(view.is_finer(found) for view in common)


def test_sixteen_expressions_and_seconds_fit_into_the_bits() -> None:
    lattice = Lattice(Dimensions((tuple(f"a{level}" for level in range(16)),)), 1)
    bits = lattice.bits([lattice.base])
    assert bits.tolist() == [(1 << 28) - 1]
    assert lattice.view(int(bits[0])) == lattice.base


@pytest.mark.parametrize("view", [View((3, 0), 1), View((0, -1), 1), View((0,), 1), View((0, 0), 5), View((0, 0), 48)])
def test_a_view_of_other_levels_or_lengths_is_not_in_the_lattice(view: View) -> None:
    assert not HOURLY.has(view)


@given(st.lists(st.none() | st.integers(-10_000, 10_000), max_size=4))
def test_the_longest_length_divides_all_bounds(bounds: list[int | None]) -> None:
    dividing = [own for own in HOURLY.lengths if all(bound is None or bound % own == 0 for bound in bounds)]
    assert HOURLY.longest(*bounds) == dividing[-1]


def test_the_nearest_view_has_the_fewest_cells_of_the_finer_ones() -> None:
    by_carrier = View((0, 1), 24)
    stored = {HOURLY.base: 900.0, View((1, 1), 8): 90.0, View((0, 1), 12): 95.0, View((2, 0), 1): 5.0}
    assert HOURLY.nearest(by_carrier, stored) == View((1, 1), 8)
    assert HOURLY.nearest(View((0, 1), 4), stored) == HOURLY.base
    # The first name wins if the cells are as many: "carrier at 12h" is before "origin, carrier at 8h".
    assert HOURLY.nearest(by_carrier, {**stored, View((0, 1), 12): 90.0}) == View((0, 1), 12)
    with pytest.raises(ValueError, match="carrier at 1d: no stored view is finer: store the base view"):
        HOURLY.nearest(by_carrier, {View((2, 0), 1): 1.0})
