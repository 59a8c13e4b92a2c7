"""Streams that drift: slowly, as drawn, and the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from workloads.drifting_tuples import Drift, turning, wandering
from workloads.errors import WorkloadError

DOMAIN = 10_000


def shares(drift: Drift, place: float) -> tuple[np.ndarray, np.ndarray]:
    """The shares of the values in the low and in the high tail, by attribute."""
    tuples = drift.tuples(place, 20_000, domain=DOMAIN, random=np.random.default_rng(5))
    values = np.stack([column.to_numpy() for column in tuples.columns])
    assert 0 <= values.min() <= values.max() < DOMAIN
    return (values < DOMAIN // 100).mean(axis=1), (values >= DOMAIN - DOMAIN // 100).mean(axis=1)


def expected(chances: np.ndarray, other: np.ndarray) -> np.ndarray:
    return chances + 0.01 * (1 - chances - other)


def test_tails_are_as_likely_as_asked() -> None:
    drift = wandering(2, attributes=8, seed=3)
    for segment in range(3):
        low, high = shares(drift, segment)
        assert low == pytest.approx(expected(drift.low[segment], drift.high[segment]), abs=0.02)
        assert high == pytest.approx(expected(drift.high[segment], drift.low[segment]), abs=0.02)


def test_one_kind_turns_into_the_next_between_the_first_and_the_last_quarter() -> None:
    drift = Drift(np.array([[0.0], [1.0]]), np.zeros((2, 1)))
    lows = [float(shares(drift, place)[0][0]) for place in (0, 0.25, 0.4, 0.5, 0.6, 0.75, 1)]
    assert lows == pytest.approx([0.01, 0.01, 0.307, 0.505, 0.703, 1, 1], abs=0.02)


def test_batches_are_reproducible_and_follow_one_another() -> None:
    drift = wandering(2, seed=1)
    first, same = (list(drift.batches(3, 50, domain=DOMAIN, seed=4)) for _ in range(2))
    assert len(first) == 6
    assert all(own.equals(other) for own, other in zip(first, same, strict=True))
    assert not first[0].equals(next(drift.batches(3, 50, domain=DOMAIN, seed=5)))
    initial = drift.beginning(50, domain=DOMAIN, seed=4)
    assert initial.equals(drift.beginning(50, domain=DOMAIN, seed=4))
    assert not initial.equals(first[0])


def test_measures_and_places_take_turns() -> None:
    drift = turning(3, measures=(0, 1), places=(2, 3), attributes=12)
    assert drift.attributes == 12
    assert drift.high[:, :2].tolist() == [[0, 0], [0.5, 0.5]] * 2
    assert drift.low[:, 2:4].tolist() == [[0, 0], [0.99, 0.99]] * 2
    assert not drift.low[:, :2].any()
    assert (drift.low[:, 4:] > 0).sum(axis=1).tolist() == [2] * 4


@pytest.mark.parametrize(
    ("low", "high"), [([[0.5]], [[0.5]]), ([[0.5], [0.6]], [[0.5], [0.5]]), ([[-0.1], [0]], [[0], [0]])]
)
def test_what_is_no_drift_is_refused(low: list[list[float]], high: list[list[float]]) -> None:
    with pytest.raises(WorkloadError):
        Drift(np.array(low, dtype=float), np.array(high, dtype=float))


def test_a_place_beyond_the_stream_is_refused() -> None:
    with pytest.raises(WorkloadError, match="place in the stream"):
        wandering(2).tuples(2.1, 5, domain=DOMAIN, random=np.random.default_rng(1))
