"""Times of records in bins: none is lost, and none is off by more than its bin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from broker.matching.record_times import RecordTimes

TIMES = st.lists(st.integers(-1, 1 << 42), max_size=300)


@given(TIMES)
def test_a_time_is_known_to_a_part_of_what_the_records_span(times: list[int]) -> None:
    known = sorted(time for time in times if time >= 0)
    found = RecordTimes.of(np.array(times, dtype=np.int64))
    assert len(found.at_ms) <= 64
    all_times = np.repeat(found.at_ms, found.counts)
    assert len(all_times) == len(known)
    if known:
        assert np.abs(all_times - np.array(known)).max() <= (known[-1] - known[0]) / 128 + 1


def test_many_batches_keep_few_bins_and_all_records() -> None:
    batches = [RecordTimes.of(np.arange(1_000) + 1_000 * number) for number in range(200)]
    found = RecordTimes.together(batches)
    assert len(found.at_ms) <= 4_096
    assert int(found.counts.sum()) == 200_000
    assert abs(float((found.at_ms * found.counts).sum()) / 200_000 - 100_000) < 1_000


def test_records_of_one_time_are_known_to_the_millisecond() -> None:
    found = RecordTimes.of(np.full(500, 1_359_619_205_123))
    assert (found.at_ms.tolist(), found.counts.tolist()) == ([1_359_619_205_123], [500])
