"""Kafka falls silent and answers again: known within seconds, and told once."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from broker.kafka.client import KafkaClient
from broker.kafka.watch import SILENT_AFTER_S, KafkaWatch

if TYPE_CHECKING:
    from conftest import OwnNode

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


class Clock:
    """Seconds that pass only where a test has them pass."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def passes_until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition, a second for each look at it."""

        def later() -> bool:
            self.now_s += 1
            return condition()

        until(later)


def test_a_kafka_that_stands_still_and_answers_again_is_told(
    own_node: OwnNode, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seconds in (("_ASKED_EACH_S", 0.1), ("_ANSWERED_WITHIN_S", 1.0)):
        monkeypatch.setattr(f"broker.kafka.watch.{name}", seconds)
    clock = Clock()
    watch = KafkaWatch(KafkaClient(own_node.bootstrap_servers, {}, 10), clock)
    with caplog.at_level("INFO", "asc.kafka"):
        watch.start()
        try:
            clock.now_s = 3 * SILENT_AFTER_S
            until(lambda: watch.problem is None)
            own_node.stop()
            clock.passes_until(lambda: watch.problem is not None)
            assert re.match(r"Kafka \S+ has not answered for \d+ s", watch.problem or "")
            until(lambda: len(messages(caplog)) == 1)
            own_node.resume()
            until(lambda: watch.problem is None)
            until(lambda: len(messages(caplog)) == 2)
            own_node.stop()
            clock.passes_until(lambda: len(messages(caplog)) == 3)
            assert watch.problem is not None
        finally:
            watch.close()
    assert messages(caplog) == [
        "Kafka _ has not answered for _",
        "Kafka _ answers again",
        "Kafka _ has not answered for _",
    ]


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    own = [line.getMessage() for line in caplog.records if line.name == "asc.kafka"]
    return [re.sub(r"\S+:\d+|\d+ s.*", "_", line) for line in own]
