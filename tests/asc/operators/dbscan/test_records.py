"""Centres of clusters."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.points import Floats
from asc.operators.dbscan.records import Summary

LARGEST = sys.float_info.max
numbers = st.one_of(
    st.floats(-LARGEST, LARGEST),
    st.sampled_from([LARGEST, -LARGEST, 1.7e308, -1.7e308, 1.0, 5e-324]),
)


def labelled(labels: list[int]) -> Labels:
    """The clusters of points of which those with a label are core. Labels are numbered as they first occur."""
    order = {label: number for number, label in enumerate(dict.fromkeys(own for own in labels if own >= 0))}
    found = np.array([order.get(own, -1) for own in labels], dtype=np.int32)
    return Labels(found, found >= 0, len(order))


def centres(now: Labels, values: Floats) -> list[float]:
    return [own for (own,) in Summary.of(now, values, is_position=False).centres]


@given(points=st.lists(st.tuples(numbers, st.integers(-1, 2)), min_size=1, max_size=30))
@example(points=[(LARGEST, 0), (LARGEST, 0), (-LARGEST, 0), (-LARGEST, 0), (3.0, 1), (5.0, 1), (LARGEST, -1)])
def test_a_centre_is_the_mean_of_values_of_any_size(points: list[tuple[float, int]]) -> None:
    now = labelled([label for _, label in points])
    values = [value for value, _ in points]
    for label, centre in enumerate(centres(now, np.array(values).reshape(-1, 1))):
        cluster = [Fraction(value) for value, own in zip(values, now.labels.tolist(), strict=True) if own == label]
        error = abs(Fraction(centre) - sum(cluster) / len(cluster))
        assert error <= len(cluster) * max(map(abs, cluster)) / 2**50 + Fraction(5e-324)


@pytest.mark.parametrize("value", [LARGEST, -LARGEST])
def test_a_centre_of_the_largest_numbers_is_that_number(value: float) -> None:
    for count in range(1, 50):
        assert centres(labelled([0] * count), np.full((count, 1), value)) == [value]
