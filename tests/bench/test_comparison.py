"""One comparison on a small stream: costs in their bounds, times of what the executor runs, and what explains them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from bench.adaptive import HYBRID, MACRO, REFINED
from bench.comparison import BEST, BY_DROPPING, OWN_LEVEL, ROUTING, WORST, Measuring, compared
from bench.recorded_stream import RecordedStream
from workloads.predicate_sets import realised

Make = Callable[..., RecordedStream]
Check = Callable[[dict[str, Any]], None]


@pytest.fixture
def stream(small_stream: Make) -> RecordedStream:
    return small_stream(6, queries=20, tuples=1_500)


def test_costs_times_and_what_explains_them(stream: RecordedStream, check_costs: Check) -> None:
    found = compared(stream, Measuring(400, 300, 1_500, 2), seed=1)
    check_costs({**found, "realised": asdict(realised(stream.plan))})
    # Found on all tuples, SEQ_best is the best of all that is held for all of them.
    assert found["costs"][BEST] == found["explained"]["sample_costs"][BEST]
    assert found["costs"][BEST] <= found["explained"]["fixed_costs"][MACRO]
    assert set(found["times"]) == {WORST, BEST, MACRO, HYBRID, REFINED}
    assert min(ns for times in found["times"].values() for ns in times.values()) > 0
    assert found["explained"]["rearrangements"] == 2
    assert set(found["explained"]["sample_costs"]) == {BEST, MACRO, HYBRID, BY_DROPPING, REFINED, OWN_LEVEL}


def test_without_repetitions_nothing_is_timed(stream: RecordedStream) -> None:
    assert compared(stream, Measuring(400, 300, 256, 0), seed=1)["times"] == {}


def test_the_seed_draws_for_the_lottery_and_the_samples(stream: RecordedStream) -> None:
    first, same, other = (compared(stream, Measuring(400, 100, 256, 0), seed=seed)["costs"] for seed in (1, 1, 2))
    assert first == same
    assert first[ROUTING] != other[ROUTING]


def test_an_executor_that_counts_another_cost_is_no_result(
    stream: RecordedStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.comparison.ticket_routing", lambda *_, **__: stream.whole.regions[0])
    monkeypatch.setattr("bench.comparison._matched", lambda *_, **__: (0, 1, 0.1))
    with pytest.raises(RuntimeError, match="the executor evaluated 1 constructs"):
        compared(stream, Measuring(400, 100, 256, 1), seed=1)
