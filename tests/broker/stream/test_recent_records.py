"""Questions about the last records: one at a time, each with an end, the records read once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from broker.errors import BrokerError
from broker.stream import recent_records

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def test_records_are_read_once_for_one_who_types(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = resting.streams()[resting.stream("json")]
    reads, now_s = [], [0.0]
    monkeypatch.setattr(recent_records, "last_records", lambda *a, **k: reads.append(a) or [])
    monkeypatch.setattr(stream.recent, "_clock", lambda: now_s[0])
    predicate = stream.analyser.normalise("n > 1")
    for _ in range(3):
        now_s[0] += 6
        assert stream.recent.accepted(predicate, 77, 0).records == 0
    assert len(reads) == 1
    stream.recent.accepted(predicate, 78, 0)
    now_s[0] += recent_records._KEPT_S
    stream.recent.accepted(predicate, 78, 0)
    assert len(reads) == 3
    for is_read_anew, count in ((False, 3), (True, 4), (False, 4)):
        stream.recent.sampled(predicate, predicate.read, 78, is_read_anew=is_read_anew)
        assert len(reads) == count


def test_a_question_has_an_end_and_others_are_told(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = resting.streams()[resting.stream("csv")]
    predicate = stream.analyser.normalise("n > 1")
    free = threading.Event()

    def slow(*_: Any, **__: Any) -> list[Any]:
        assert free.wait(120)
        return []

    monkeypatch.setattr(recent_records, "last_records", slow)
    monkeypatch.setattr(recent_records, "_ANSWERED_WITHIN_S", 0.3)
    with pytest.raises(BrokerError, match="took more than 0 s: ask for fewer records, or write it more simply"):
        stream.recent.accepted(predicate, 9, 0)
    with pytest.raises(BrokerError, match="are busy with what others ask: try again"):
        stream.recent.accepted(predicate, 9, 0)
    free.set()
    monkeypatch.undo()
    monkeypatch.setattr(recent_records, "last_records", lambda *_, **__: [])
    assert stream.recent.accepted(predicate, 9, 0).records == 0


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def waiting(recent: recent_records.RecentRecords) -> int:
    """Return how many questions wait for their turn."""
    return len(recent._turn._waiters)  # type: ignore[attr-defined]


def test_of_one_who_types_the_newest_question_waits(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = resting.streams()[resting.stream("csv")]
    predicate = stream.analyser.normalise("n > 1")
    free, reads = threading.Event(), []

    def held(*_: Any, **__: Any) -> list[Any]:
        reads.append(1)
        assert free.wait(120)
        return []

    monkeypatch.setattr(recent_records, "last_records", held)
    with ThreadPoolExecutor(4) as pool:

        def ask(last: int, caller: str | None) -> Future[Any]:
            return pool.submit(stream.recent.accepted, predicate, last, 0, caller=caller)

        running = ask(21, "all@here")
        until(lambda: len(reads) == 1)
        older = ask(22, "all@here")
        until(lambda: waiting(stream.recent) == 1)
        other = ask(23, None)
        until(lambda: waiting(stream.recent) == 2)
        newest = ask(24, "all@here")
        with pytest.raises(BrokerError, match="gave way to a newer one"):
            older.result(60)
        until(lambda: waiting(stream.recent) == 2)
        assert not any(each.done() for each in (running, other, newest))
        free.set()
        assert [each.result(120).records for each in (running, other, newest)] == [0, 0, 0]
    assert len(reads) == 3
