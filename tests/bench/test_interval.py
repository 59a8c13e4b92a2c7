"""Student's interval against the tables, and how often it holds the mean."""

from __future__ import annotations

import numpy as np
import pytest

from bench.interval import Interval, student_quantile


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (19, 2.093), (120, 1.980)]
)
def test_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert student_quantile(freedom) == pytest.approx(quantile, abs=5e-4)


def test_another_confidence() -> None:
    assert student_quantile(10, 0.99) == pytest.approx(3.169, abs=5e-4)


def test_nineteen_intervals_of_twenty_hold_the_mean() -> None:
    random = np.random.default_rng(3)
    intervals = [Interval.of(random.normal(5, 2, 20).tolist()) for _ in range(2_000)]
    held = sum(own.low <= 5 <= own.high for own in intervals)
    # 1,900 on average, with a deviation of 10.
    assert 1_860 <= held <= 1_940


def test_one_value_is_its_own_interval() -> None:
    assert Interval.of([3.0]) == Interval(3.0, 3.0, 3.0)
    assert str(Interval.of([3.0])) == "3.00 ± 0.00"


def test_mean_and_half() -> None:
    found = Interval.of([1.0, 3.0])
    assert (found.mean, found.half) == (2.0, pytest.approx(12.706, abs=1e-3))
    assert found.low == pytest.approx(2.0 - found.half)
