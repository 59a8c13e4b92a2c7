"""Cells and the Z-order that runs through them."""

from __future__ import annotations

import numpy as np
import pytest

from asc.spatial.cells import SIDE, cell_of, spread, z_order


def test_bits_are_spread_and_interleaved() -> None:
    assert spread(0b1011) == 0b1000101
    assert z_order(0b11, 0b00) == 0b0101
    assert z_order(0b00, 0b11) == 0b1010
    assert z_order(SIDE - 1, SIDE - 1) == SIDE * SIDE - 1


def test_a_cell_is_monotone_and_never_beyond_the_square() -> None:
    values = np.sort(np.random.default_rng(0).uniform(-200, 200, 2_000))
    cells = [cell_of(value, -180.0, SIDE / 360) for value in values.tolist()]
    assert cells == sorted(cells)
    assert (cells[0], cells[-1]) == (0, SIDE - 1)
    assert cell_of(180.0, -180.0, SIDE / 360) == SIDE - 1
    assert cell_of(float("nan"), 0.0, 1.0) == 0


@pytest.mark.parametrize("value", [float("inf"), 1e300])
def test_what_is_far_away_is_in_the_last_cell(value: float) -> None:
    assert cell_of(value, 0.0, 1e200) == SIDE - 1
