"""What was done when: an hour of moments, and rates of the last minute."""

from __future__ import annotations

import numpy as np
import pytest

from broker.matching.record_times import RecordTimes
from broker.stream.metrics.latency import Latency
from broker.stream.metrics.timeline import KEPT, MOMENT_S, Timeline


def add(timeline: Timeline, now_s: float, records: int = 10) -> None:
    latency = Latency.of(RecordTimes.of(np.full(records, int(now_s * 1000) - 80)), now_s)
    timeline.add(now_s, records=records, accepted=4, written=6, dead_letters=1, latency=latency)


def test_batches_of_a_moment_are_told_together() -> None:
    timeline = Timeline(1_000.0)
    for now_s in (1_001.0, 1_004.9, 1_005.0):
        add(timeline, now_s)
    moments = timeline.moments(1_006.0)
    assert [(m.at_s, m.batches, m.records, m.accepted, m.written, m.dead_letters, len(m.latency)) for m in moments] == [
        (1_000, 2, 20, 8, 12, 2, 20),
        (1_005, 1, 10, 4, 6, 1, 10),
    ]


def test_no_more_than_an_hour_is_kept() -> None:
    timeline = Timeline(0.0)
    for number in range(KEPT + 100):
        add(timeline, number * MOMENT_S)
    now_s = (KEPT + 100) * MOMENT_S
    assert len(timeline.moments(now_s)) == KEPT - 1
    # Nothing came for half an hour: what is older than an hour is not told.
    assert len(timeline.moments(now_s + 1_800)) == KEPT - 1 - 1_800 // MOMENT_S


def test_rates_are_of_the_last_minute_or_since_the_start() -> None:
    timeline = Timeline(1_000.0)
    assert timeline.rates(1_000.0)["records_per_s"] == 0.0
    assert timeline.rates(1_000.0)["latency_p50_s"] is None
    add(timeline, 1_010.0)
    assert timeline.rates(1_020.0)["records_per_s"] == 0.5
    add(timeline, 1_070.0, records=600)
    rates = timeline.rates(1_071.0)
    # Of the 56 s since 1015, when the oldest moment of the last minute begins.
    assert (rates["records_per_s"], rates["accepted_per_s"], rates["written_per_s"]) == (10.714, 0.071, 0.107)
    assert 0.05 < rates["latency_p50_s"] < 0.1
    assert timeline.rates(1_200.0)["records_per_s"] == 0.0


def test_a_clock_that_is_set_back_loses_nothing() -> None:
    timeline = Timeline(1_000.0)
    add(timeline, 1_010.0)
    add(timeline, 900.0)
    (moment,) = timeline.moments(1_011.0)
    assert (moment.at_s, moment.batches) == (1_010, 2)


@pytest.mark.parametrize("began_s", [0.0, 1_003.0, 1_083.0])
def test_rates_of_an_even_flow_are_those_of_the_flow(began_s: float) -> None:
    timeline = Timeline(began_s)
    for second in range(int(began_s) + 1, 1_100):
        add(timeline, second, records=100)
        if second > 1_085:
            assert timeline.rates(second)["records_per_s"] == pytest.approx(100, rel=0.02)
