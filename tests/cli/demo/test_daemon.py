"""What a demonstration receives: all of it and a while of silence, or what came until nothing comes any more."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

from cli.demo import daemon
from cli.demo.daemon import receive


class Messages:
    """What is polled: the deliveries given, one at a time, then nothing."""

    def __init__(self, count: int) -> None:
        self._left = deque(range(count))

    def poll(self, timeout_ms: int) -> dict[str, list[Any]]:
        if not self._left:
            return {}
        number = self._left.popleft()
        record = SimpleNamespace(
            topic="a",
            partition=0,
            offset=number,
            timestamp=0,
            key=None,
            value=b"{}",
            headers=[("asc-query", b"q"), ("asc-source", f"s-0-{number}".encode())],
        )
        return {"a": [record]}


@pytest.mark.parametrize("count", [3, 5, 8])
def test_it_ends_when_all_are_there_or_nothing_comes(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon, "QUIET_S", 0.05)
    monkeypatch.setattr(daemon, "PATIENCE_S", 0.1)
    received, _ = receive(Messages(count), ["a", "b"], 5)
    # A surplus record is seen as well.
    assert [len(received[topic]) for topic in ("a", "b")] == [count, 0]
    assert [one["source"] for one in received["a"]] == [f"s-0-{number}" for number in range(count)]
