"""What the phases of batches took: medians, sums, and when each was."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

import broker.stream.metrics.phases
from broker.stream.metrics.phases import PHASES, BatchPhases, DoneBatch, Phase


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
    monkeypatch.setattr(broker.stream.metrics.phases, "perf_counter", read)
    yield seconds
    assert not seconds


def test_phases_are_medians_of_the_last_batches_in_their_order(clock: list[float]) -> None:
    phases = BatchPhases()
    durations = [{"latestOffset": 7, "addBatch": 900}] * 3 + [
        {"latestOffset": 5, "addBatch": 400, "commitOffsets": 30}
    ] * 20
    for batch_id, (seconds, of_spark) in enumerate(zip((0.5, 0.5, *(8.0, *[0.25] * 20)), durations, strict=True)):
        clock += [seconds, 0.125]
        for phase in ("run", "bind"):
            with phases.timed(phase):
                pass
        phases.count(batch_id)
        phases.count_spark(batch_id, 1_000.0, of_spark)
    found = phases.medians()
    # What is between Spark's call and its return, and is no phase of the daemon's own.
    assert found == {"offsets": 0.005, "hand_over": 0.025, "bind": 0.125, "run": 0.25, "commit": 0.03}
    assert list(found) == [phase for phase in PHASES if phase in found]
    totals = phases.totals()
    assert totals["run"] == (23, 14.0)
    assert totals["commit"] == (20, pytest.approx(0.6))
    # Never less than nothing, where Spark's clock has it so.
    assert totals["hand_over"] == (23, pytest.approx(2 * 0.275 + 20 * 0.025))


def test_the_commit_of_states_is_no_part_of_what_spark_hands_over() -> None:
    phases = BatchPhases()
    for phase, seconds in (("run", 0.5), ("keep", 0.25)):
        phases.note(phase, seconds)
    phases.count(1)
    phases.count_spark(1, 1_000.0, {"addBatch": 800})
    assert list(phases.medians()) == ["hand_over", "run", "keep"]
    assert phases.medians()["hand_over"] == pytest.approx(0.05)


def test_what_fails_or_has_no_records_is_not_counted() -> None:
    phases = BatchPhases()
    with phases.timed("build"):
        pass
    with pytest.raises(ValueError, match="no"), phases.timed("run"):
        raise ValueError("no")
    phases.note("match", 0.25)
    assert (phases.medians(), phases.totals()) == ({}, {})
    phases.count(7)
    found = phases.medians()
    assert list(found) == ["build", "match"]
    assert found["match"] == 0.25


def test_a_batch_is_whole_when_spark_has_told_its_part() -> None:
    batches: list[DoneBatch] = []
    phases = BatchPhases(batches.append)
    phases.note("run", 0.5)
    phases.count(3, records=9)
    assert batches == []
    durations = {"latestOffset": 20, "walCommit": 10, "addBatch": 600, "commitOffsets": 30, "triggerExecution": 700}
    phases.count_spark(3, 1_000.0, durations)
    (whole,) = batches
    assert (whole.batch_id, whole.said, whole.whole) == (3, {"records": 9}, Phase(1_000.0, 0.7))
    run = whole.phases["run"]
    assert run.seconds == 0.5
    assert time.time() - run.began_s == pytest.approx(0.5, abs=5)
    # Spark tells how long each took, and not when: in their order, and the last one at the end.
    assert {name: (phase.began_s, phase.seconds) for name, phase in whole.phases.items() if name != "run"} == {
        "offsets": (1_000.0, 0.02),
        "log": (1_000.02, 0.01),
        "commit": (pytest.approx(1_000.67), 0.03),
    }
    # One of another run of the daemon, or that was told before.
    phases.count_spark(3, 1_000.0, durations)
    assert batches == [whole]


def test_who_is_told_and_fails_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fails(batch: DoneBatch) -> None:
        raise ValueError("no room")

    phases = BatchPhases(fails)
    phases.note("run", 0.5)
    phases.count(3)
    phases.count_spark(3, 1_000.0, {"addBatch": 600})
    assert phases.totals()["hand_over"][0] == 1
    assert "batch 3 is not told: no room" in caplog.text


def test_batches_that_spark_never_tells_of_are_forgotten() -> None:
    batches: list[DoneBatch] = []
    phases = BatchPhases(batches.append)
    for batch_id in range(1_000):
        phases.note("run", 0.5)
        phases.count(batch_id)
    for batch_id in range(1_000):
        phases.count_spark(batch_id, 0.0, {"addBatch": 600})
    assert [batch.batch_id for batch in batches] == list(range(800, 1_000))
