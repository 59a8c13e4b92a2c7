"""Records sent at a pace arrive, with the time at which they were made."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bench.traffic import Received, make_topics, receiving, send_paced, spread

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka


@pytest.mark.kafka
def test_what_is_sent_is_received(kafka: EmbeddedKafka) -> None:
    topic = f"paced-{uuid.uuid4().hex}"
    make_topics(kafka.bootstrap_servers, topic)
    with receiving(kafka.bootstrap_servers, [topic]) as receiver:
        start = time.time()
        sent = send_paced(kafka.bootstrap_servers, topic, 200, 1.0)
        assert 0 < sent <= 200
        while receiver.count() < sent:
            time.sleep(0.05)
        found = receiver.taken()
        assert receiver.taken().sent.size == 0
    assert len(found.sent) == len(found.received) == sent
    assert (found.latency >= 0).all()
    assert ((found.sent >= start) & (found.received <= time.time())).all()


def test_the_spread_is_of_those_in_a_span() -> None:
    sent = np.arange(100.0)
    found = Received(sent, sent + np.where(sent < 50, 1.0, 0.25)).between(50, 100)
    assert spread(found.latency) == {"p50_s": 0.25, "p99_s": 0.25, "worst_s": 0.25}
    with pytest.raises(RuntimeError, match="nothing was delivered"):
        spread(found.between(0, 1).latency)
