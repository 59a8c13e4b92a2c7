"""Medians of what the phases of batches took."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import broker.stream.phases
from broker.stream.phases import PHASES, BatchPhases


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """What the phases that follow take."""
    seconds: list[float] = []
    now = 0.0

    def read() -> float:
        nonlocal now
        started = len(reads) % 2
        reads.append(0)
        now += seconds.pop(0) if started else 0.0
        return now

    reads: list[int] = []
    monkeypatch.setattr(broker.stream.phases, "perf_counter", read)
    yield seconds
    assert not seconds


def test_phases_are_medians_of_the_last_batches_in_their_order(clock: list[float]) -> None:
    phases = BatchPhases()
    for seconds in (8.0, *[0.25] * 15, *[0.5] * 5):
        clock += [seconds, 0.125]
        for phase in ("run", "bind"):
            with phases.timed(phase):
                pass
        phases.count()
    told = [{"latestOffset": 7, "addBatch": 900}] * 3 + [{"latestOffset": 5, "addBatch": 400, "commitOffsets": 30}] * 20
    found = phases.medians(told)
    # What is between Spark's call and its return, and is no phase of the daemon's own.
    assert found == {"offsets": 0.005, "hand_over": 0.025, "bind": 0.125, "run": 0.25, "commit": 0.03}
    assert list(found) == [phase for phase in PHASES if phase in found]


def test_what_fails_or_has_no_records_is_not_counted() -> None:
    phases = BatchPhases()
    with phases.timed("build"):
        pass
    with pytest.raises(ValueError, match="no"), phases.timed("run"):
        raise ValueError("no")
    phases.note("match", 0.25)
    assert phases.medians([]) == {}
    phases.count()
    found = phases.medians([])
    assert list(found) == ["build", "match"]
    assert found["match"] == 0.25
