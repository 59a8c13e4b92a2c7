"""The objects inside an event query, in answers of the API."""

from __future__ import annotations

import pytest

from asc.operators.events import bucket as events_bucket
from asc.operators.events.bucket import Bucket
from asc.operators.events.event_query import EventQuery
from asc.operators.feed import Observation, Settings, Watermarks
from broker.operators.events.kept import EventsKept

S = 1_000_000
KINDS = ("enter", "exit", "lost")
PLAIN = EventQuery("plain", "out", "t", "ts", ("low",), KINDS, 0, 100 * S)
OVER = EventQuery("over", "out", "t", "ts", ("zones",), ("exit",), 0, 100 * S)
SLOW = EventQuery("slow", "out", "t", "ts", ("low",), KINDS, 60 * S, 100 * S)
SETTINGS = Settings("events", "flights", True, 100, tuple(query.settings() for query in (PLAIN, OVER, SLOW)))


def seen(key: str, offset: int, second: int, *selections: str) -> str:
    return Observation("events", "t", key, second * S, (), 0, offset, selections).text()


def inside(bucket: Bucket) -> dict[str, object]:
    assert bucket.counts.latest is not None
    found = {name: EventsKept.model_validate({"name": "events", **own}) for name, own in bucket.counts.latest.items()}
    return {name: kept.objects_inside for name, kept in found.items()}


def test_the_objects_inside_each_query_are_counted_also_after_the_state_was_read() -> None:
    texts = [
        SETTINGS.text(),
        seen("a", 1, 10, "low", "zones/CHE", "zones/FRA"),
        seen("b", 2, 10, "low"),
        seen("b", 3, 11, "zones/CHE"),
    ]
    bucket = Bucket()
    for wanted, more in (
        # No object was in slow for its dwell time yet; a is in two shapes.
        ({"plain": 1, "over": 3, "slow": 0}, texts),
        ({"plain": 1, "over": 0, "slow": 1}, [seen("a", 4, 70, "low"), seen("b", 5, 70)]),
        ({"plain": 0, "over": 0, "slow": 0}, [Watermarks({"ts": 500 * S}).text()]),
    ):
        list(bucket.read(more))
        assert inside(bucket) == wanted
        bucket = Bucket.of_bytes(bucket.to_bytes())
        list(bucket.read([]))
        assert inside(bucket) == wanted


def test_of_very_many_queries_none_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_bucket, "_QUERIES_COUNTED", 2)
    bucket = Bucket()
    list(bucket.read([SETTINGS.text(), seen("a", 1, 10, "low")]))
    assert bucket.counts.latest == {}
