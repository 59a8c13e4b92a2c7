"""The interval for a loss holds it as often as it says, also where it comes from a few batches alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bench.paired_stats import loss_of, ratio_of

PAIRS = 120


def noisy(random: np.random.Generator) -> np.ndarray:
    return 1 + 0.1 * random.standard_t(4, PAIRS).clip(-5, 5)


def evenly(random: np.random.Generator) -> np.ndarray:
    return noisy(random) / 0.98


def in_a_few_batches(random: np.random.Generator) -> np.ndarray:
    """Nothing in five of six, as much in the sixth that the sum is 1 / .98 of the others'."""
    return noisy(random) + np.where(random.random(PAIRS) < 1 / 6, 6 * (1 / 0.98 - 1), 0)


@pytest.mark.parametrize("costs", [evenly, in_a_few_batches])
def test_nineteen_intervals_of_twenty_hold_the_loss(
    costs: Callable[[np.random.Generator], np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.paired_stats._RESAMPLES", 2_000)
    random = np.random.default_rng(7)
    losses = [loss_of(costs(random).tolist(), noisy(random).tolist()) for _ in range(200)]
    held = sum(loss.low <= 0.02 <= loss.high for loss in losses)
    # 190 on average, with a deviation of 3.
    assert 178 <= held <= 200
    assert abs(np.mean([loss.share for loss in losses]) - 0.02) < 0.004


def test_a_gain_is_a_loss_below_zero() -> None:
    loss = loss_of([1.0] * 20, [1.25] * 20)
    assert (loss.share, loss.low, loss.high) == (-0.25, -0.25, -0.25)


def test_a_ratio_says_the_same() -> None:
    random = np.random.default_rng(3)
    own, base = evenly(random).tolist(), noisy(random).tolist()
    loss, ratio = loss_of(own, base), ratio_of(own, base)
    assert ratio.low < ratio.ratio < ratio.high
    assert ratio.ratio == pytest.approx(sum(own) / sum(base), abs=1e-4)
    assert (1 - 1 / ratio.low, 1 - 1 / ratio.high) == pytest.approx((loss.low, loss.high), abs=1e-4)
