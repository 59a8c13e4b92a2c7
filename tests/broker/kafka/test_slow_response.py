"""Waiting for Kafka is said, once, and only where it takes long."""

from __future__ import annotations

import threading

from broker.kafka.slow_response import SlowResponse


def test_a_long_wait_is_said_once_and_the_next_one_again() -> None:
    said = threading.Semaphore(0)
    with SlowResponse(said.release, after_s=0.0) as slow_response:
        for _ in range(2):
            with slow_response.waiting():
                assert said.acquire(timeout=30)
                # Looked at again, it is the same wait.
                assert not said.acquire(timeout=0.6)


def test_short_waits_are_not_said() -> None:
    said = threading.Semaphore(0)
    with SlowResponse(said.release, after_s=60.0) as slow_response:
        for _ in range(1000):
            with slow_response.waiting():
                pass
        assert not said.acquire(timeout=0.6)
