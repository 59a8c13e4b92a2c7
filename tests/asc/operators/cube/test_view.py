"""Views: the order of the lattice, and their names."""

from __future__ import annotations

from itertools import product

from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.view import View, grain_text

DIMENSIONS = Dimensions((("a", "b"), ("c",)))
VIEWS = [View(cuboid, panes) for cuboid, panes in product(DIMENSIONS.cuboids(), (1, 2, 3, 6))]


def test_finer_is_a_partial_order_with_the_base_as_its_finest() -> None:
    base = View.base(DIMENSIONS)
    for one, other in product(VIEWS, VIEWS):
        assert base.is_finer(one)
        assert one.is_finer(one)
        assert (one.is_finer(other) and other.is_finer(one)) == (one == other)
        assert one == other or not one.is_finer(other) or one.fineness < other.fineness
        for third in VIEWS:
            assert not (one.is_finer(other) and other.is_finer(third)) or one.is_finer(third)


def test_panes_of_other_lengths_are_finer_only_if_they_divide() -> None:
    assert not View((0, 0), 2).is_finer(View((0, 0), 3))
    assert View((0, 0), 2).is_finer(View((0, 0), 6))


def test_it_is_named_by_its_levels_and_its_length() -> None:
    assert View((2, 1), 1).name(DIMENSIONS, 900) == "a, b, c at 15min"
    assert View((0, 0), 96).name(DIMENSIONS, 900) == "() at 1d"
    assert [grain_text(each) for each in (1, 60, 7_200, 172_800)] == ["1s", "1min", "2h", "2d"]
