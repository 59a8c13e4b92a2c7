"""Samples of numbers: cube roots and sums that are equal on every machine, and right."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.computed.bin_sample import BinSample, cube_roots, squares

POSITIVE = st.floats(min_value=5e-324, max_value=1.7e308)


@given(st.lists(POSITIVE, min_size=1, max_size=30))
def test_a_cube_root_is_within_two_ulp(values: list[float]) -> None:
    for value, root in zip(values, cube_roots(np.array(values)).tolist(), strict=True):
        below, above = (Fraction(root + sign * 2 * math.ulp(root)) for sign in (-1, 1))
        assert below**3 <= Fraction(value) <= above**3


@given(st.lists(st.integers(-1_000, 1_000), min_size=1, max_size=30))
def test_the_squares_are_those_of_exact_deviations(values: list[int]) -> None:
    mean = Fraction(sum(values), len(values))
    exact = sum((value - mean) ** 2 for value in values)
    assert squares(np.array(values, dtype=np.float64)) == pytest.approx(float(exact), rel=1e-12, abs=1e-18)


def test_infinities_and_nan_are_no_part_of_a_sample() -> None:
    sample = BinSample.of(np.array([math.nan, 3.0, -math.inf, -0.0, 0.0, math.inf, 3.0]))
    assert (sample.values.tolist(), sample.different.tolist(), sample.counts.tolist()) == (
        [0.0, 0.0, 3.0, 3.0],
        [0.0, 3.0],
        [2, 2],
    )
    assert math.copysign(1, sample.different[0]) == 1


@pytest.mark.parametrize("values", [[], [math.nan, math.inf]])
def test_without_a_finite_number_there_is_no_sample(values: list[float]) -> None:
    with pytest.raises(CubeError, match=r"dimension 'x': has no finite number .*: publish .* --calibrate FILE"):
        BinSample.of(np.array(values, dtype=np.float64), "x")


def test_the_greatest_doubles_do_not_overflow() -> None:
    sample = BinSample.of(np.array([-1.7e308, 0.0, 1.7e308]))
    assert np.isfinite(sample.gap_weights()).all()
    assert math.isfinite(sample.deviation())
