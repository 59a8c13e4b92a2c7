"""Questions about the last records: one at a time, each with an end, the records read once."""

from __future__ import annotations

import threading
import time
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
    reads = []
    monkeypatch.setattr(recent_records, "last_records", lambda *a, **k: reads.append(a) or [])
    monkeypatch.setattr(recent_records, "_KEPT_S", 0.2)
    predicate = stream.analyser.normalise("n > 1")
    for _ in range(3):
        assert stream.recent.accepted(predicate, 77, 0).records == 0
    assert len(reads) == 1
    stream.recent.accepted(predicate, 78, 0)
    time.sleep(0.25)
    stream.recent.accepted(predicate, 78, 0)
    assert len(reads) == 3


def test_a_question_has_an_end_and_others_are_told(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = resting.streams()[resting.stream("csv")]
    predicate = stream.analyser.normalise("n > 1")

    def slow(*_: Any, **__: Any) -> list[Any]:
        time.sleep(1.5)
        return []

    monkeypatch.setattr(recent_records, "last_records", slow)
    monkeypatch.setattr(recent_records, "_ANSWERED_WITHIN_S", 0.3)
    with pytest.raises(BrokerError, match="took more than 0 s: ask for fewer records, or write it more simply"):
        stream.recent.accepted(predicate, 9, 0)
    with pytest.raises(BrokerError, match="are busy with what others ask: try again"):
        stream.recent.accepted(predicate, 9, 0)
    time.sleep(1.5)
    assert stream.recent.accepted(predicate, 9, 0).records == 0


def test_of_one_who_types_the_newest_question_waits(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = resting.streams()[resting.stream("csv")]
    predicate = stream.analyser.normalise("n > 1")
    free, reads = threading.Event(), []

    def held(*_: Any, **__: Any) -> list[Any]:
        reads.append(1)
        assert free.wait(20)
        return []

    monkeypatch.setattr(recent_records, "last_records", held)
    with ThreadPoolExecutor(4) as pool:

        def ask(last: int, caller: str | None) -> Future[Any]:
            asked = pool.submit(stream.recent.accepted, predicate, last, 0, caller=caller)
            time.sleep(0.2)
            return asked

        running, older = ask(21, "all@here"), ask(22, "all@here")
        other, newest = ask(23, None), ask(24, "all@here")
        with pytest.raises(BrokerError, match="gave way to a newer one"):
            older.result(1)
        assert not any(each.done() for each in (running, other, newest))
        free.set()
        assert [each.result(20).records for each in (running, other, newest)] == [0, 0, 0]
    assert len(reads) == 3
