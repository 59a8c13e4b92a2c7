"""Latencies: which bucket a record is in, and what a share of them took."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.matching.record_times import RecordTimes
from broker.stream.metrics.latency import BOUNDS_S, Latency


def latency(*taken_ms: int) -> Latency:
    return Latency.of(RecordTimes.of(100_000_000 - np.array(taken_ms, dtype=np.int64)), 100_000.0)


@pytest.mark.parametrize(
    ("taken_ms", "bucket"), [(0, 0), (25, 0), (26, 1), (1_000, 8), (3_600_000, 16), (3_600_001, 17)]
)
def test_a_bound_is_within_its_bucket(taken_ms: int, bucket: int) -> None:
    found = latency(taken_ms)
    assert np.flatnonzero(found.counts).tolist() == [bucket]
    assert found.sum_s == pytest.approx(taken_ms / 1000)


def test_a_record_from_the_future_took_no_time() -> None:
    found = latency(-5_000)
    assert (int(found.counts[0]), found.sum_s) == (1, 0.0)


def test_quantiles() -> None:
    assert Latency.none().quantile_s(0.5) is None
    assert latency(*[80] * 99, 400).quantile_s(0.5) == 0.09
    assert latency(*[80] * 90, *[3_900] * 10).quantile_s(0.99) == 4.0
    assert latency(7_200_000).quantile_s(0.5) == BOUNDS_S[-1]


@given(st.integers(25, 3_600_000))
def test_what_one_record_took_is_told_to_a_fifth_and_never_as_less(taken_ms: int) -> None:
    half, most = latency(taken_ms).quantile_s(0.5), latency(taken_ms).quantile_s(0.99)
    assert half == most
    assert most is not None
    assert taken_ms / 1000 <= most <= taken_ms / 1000 * 1.2 + 1e-9


@given(st.lists(st.integers(0, 4_000_000), min_size=1, max_size=50), st.integers(0, 50))
def test_what_is_added_up_is_of_all_records(taken_ms: list[int], place: int) -> None:
    parts = [part for part in (taken_ms[:place], taken_ms[place:]) if part]
    both = sum((latency(part[0]) + sum(map(latency, part[1:]), Latency.none()) for part in parts), Latency.none())
    wanted = np.bincount(
        np.searchsorted([round(bound * 1000) for bound in BOUNDS_S], taken_ms), minlength=len(BOUNDS_S) + 1
    )
    assert both.counts.tolist() == wanted.tolist()
    assert both.sum_s == pytest.approx(sum(taken_ms) / 1000, abs=1e-3)
    most = both.quantile_s(1.0)
    assert most is not None
    assert most >= min(max(taken_ms) / 1000, BOUNDS_S[-1])
