"""How far a stream is behind, with a real Kafka."""

from __future__ import annotations

import threading
import time
import uuid
from typing import Any

import pytest

from broker.config.sections import KafkaConfig
from broker.kafka.cluster import KafkaCluster
from broker.stream.metrics.lag import Lag

pytestmark = pytest.mark.kafka


def lag_within(lag: Lag, wanted: int | None, seconds: float = 120) -> int | None:
    deadline = time.monotonic() + seconds
    while lag.records() != wanted and time.monotonic() < deadline:
        time.sleep(0.1)
    return lag.records()


def test_what_is_not_done_is_counted(kafka: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.stream.metrics.lag._ASKED_EACH_S", 0.2)
    monkeypatch.setattr("broker.stream.metrics.lag._KNOWN_FOR_S", 600.0)
    topic = f"lag-{uuid.uuid4().hex}"
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(partitions=2))
    cluster.create_topics([topic])
    lag = Lag("s", topic, cluster.client, {0: 0, 1: 0})
    assert lag.records() is None
    lag.start()
    try:
        assert lag_within(lag, 0) == 0
        producer = cluster.client.producer()
        for number in range(5):
            producer.send(topic, b"x", partition=number % 2)
        producer.flush()
        producer.close()
        assert lag_within(lag, 5) == 5
        lag.done = {0: 3}
        assert lag.records() == 2
        lag.done = {0: 3, 1: 9}
        assert lag.records() == 0
    finally:
        lag.ask_to_stop()
        cluster.close()
    # What Kafka said counts for a while only.
    monkeypatch.setattr("broker.stream.metrics.lag._KNOWN_FOR_S", 0.01)
    assert lag_within(lag, None) is None


def test_it_is_started_once_by_however_many_threads() -> None:
    """Python gives a thread that is started twice a traceback in the log."""

    class Silent:
        def __init__(self) -> None:
            self.asking: set[int] = set()
            self.is_asked = threading.Event()

        def consumer(self, **_: object) -> None:
            self.asking.add(threading.get_ident())
            self.is_asked.set()
            raise ConnectionError

    for _ in range(20):
        client: Any = Silent()
        lag, ready = Lag("s", "t", client, {}), threading.Barrier(8)
        starting = [threading.Thread(target=lambda: (ready.wait(), lag.start())) for _ in range(8)]  # noqa: B023
        for thread in starting:
            thread.start()
        for thread in starting:
            thread.join()
        assert client.is_asked.wait(60)
        lag.ask_to_stop()
        lag._thread.join()
        assert len(client.asking) == 1
