"""Kafka falls silent and answers again: known within seconds, and told once."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from broker.kafka.client import KafkaClient
from broker.kafka.embedded import EmbeddedKafka
from broker.kafka.watch import KafkaWatch

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


def until(condition: Callable[[], bool], within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def nodes_in(folder: Path) -> list[int]:
    """The processes that are Kafka on this data."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (process / "cmdline").read_text("utf-8", "replace")
            if line.split("\0")[0].endswith("java") and str(folder) in line:
                found.append(int(process.name))
    return found


def test_a_kafka_that_stands_still_and_one_that_is_dead_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seconds in (("SILENT_AFTER_S", 3.0), ("_ASKED_EACH_S", 0.5), ("_ANSWERED_WITHIN_S", 1.0)):
        monkeypatch.setattr(f"broker.kafka.watch.{name}", seconds)
    with EmbeddedKafka(tmp_path) as broker, caplog.at_level("INFO", "asc.kafka"):
        (node,) = nodes_in(tmp_path)
        watch = KafkaWatch(KafkaClient(broker.bootstrap_servers, {}, 10))
        watch.start()
        try:
            time.sleep(4)
            assert watch.problem is None
            os.kill(node, signal.SIGSTOP)
            until(lambda: watch.problem is not None, 20)
            assert re.match(r"Kafka \S+ has not answered for \d+ s", watch.problem or "")
            until(lambda: len(told(caplog)) == 1, 20)
            os.kill(node, signal.SIGCONT)
            until(lambda: watch.problem is None, 20)
            os.kill(node, signal.SIGKILL)
            until(lambda: len(told(caplog)) == 3, 20)
            assert watch.problem is not None
        finally:
            watch.close()
    assert told(caplog) == ["Kafka _ has not answered for _", "Kafka _ answers again", "Kafka _ has not answered for _"]


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    own = [line.getMessage() for line in caplog.records if line.name == "asc.kafka"]
    return [re.sub(r"\S+:\d+|\d+ s.*", "_", line) for line in own]
