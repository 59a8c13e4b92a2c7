"""The interval for a shift holds it as often as it says, whatever accidents there are among the pairs."""

from __future__ import annotations

import numpy as np
import pytest

from bench.paired import shift_of


@pytest.mark.parametrize("heavy_tailed", [False, True])
@pytest.mark.parametrize("pairs", [20, 100])
def test_nineteen_intervals_of_twenty_hold_the_shift(pairs: int, heavy_tailed: bool) -> None:
    random = np.random.default_rng(7)
    noise = random.standard_t(2, (500, pairs)) if heavy_tailed else random.normal(0, 1, (500, pairs))
    shifts = [shift_of((0.3 + row).tolist()) for row in noise]
    held = sum(shift.low <= 0.3 <= shift.high for shift in shifts)
    # 475 on average, with a deviation of 5.
    assert 450 <= held <= 495
    assert abs(np.mean([shift.estimate for shift in shifts]) - 0.3) < 0.05


def test_few_pairs_give_their_whole_range() -> None:
    shift = shift_of([0.1, 0.5, 0.2])
    assert (shift.low, shift.high) == (0.1, 0.5)
