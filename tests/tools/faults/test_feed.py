"""The numbered records are the same ones each time, and of every kind."""

from __future__ import annotations

import json
import time
from typing import Any

from tools.faults.feed import COLUMNS, Feed, record_of


def test_a_number_has_one_record() -> None:
    assert [record_of(number) for number in range(300)] == [record_of(number) for number in range(300)]


def test_they_are_of_every_kind() -> None:
    records = [record_of(number) for number in range(1, 101)]
    fields = [json.loads(value) for _, value, _ in records]
    assert all(found.keys() == COLUMNS.keys() for found in fields)
    assert {found["n"] for found in fields} == set(range(1, 101))
    for name in ("g", "s", "d"):
        assert None in {found[name] for found in fields}
    assert None in {key for key, _, _ in records}
    assert {len(headers) for _, _, headers in records} == {1, 2, 3}
    assert record_of(0)[1] == b"{not json 0"


class Sent:
    """A producer that confirms nothing, and keeps the numbers that it was given."""

    def __init__(self) -> None:
        self.keys: list[object] = []

    def send(self, topic: str, value: bytes, *, key: object, headers: object) -> Sent:
        self.keys.append(value)
        return self

    def add_callback(self, *_: object) -> None: ...

    def add_errback(self, *_: object) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


def test_it_waits_for_those_that_read() -> None:
    sent, end = Sent(), [7]

    def producer(**_: Any) -> Sent:
        return sent

    feed = Feed(producer, "topic", 1_000, end=lambda: end[0])
    feed.start()
    try:
        for most in (7, 20):
            end[0] = most
            while feed.count < most:
                time.sleep(0.01)
            time.sleep(0.15)
            assert (feed.count, len(sent.keys)) == (most, most)
    finally:
        feed.close()
