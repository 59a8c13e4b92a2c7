"""Causes for which a watermark waits: silent and waiting partitions, and the one furthest behind."""

from __future__ import annotations

from collections.abc import Collection

from broker.operators.cube.batch_time import Clock
from broker.operators.cube.coverage import BatchInterval
from broker.operators.cube.partition_times import partitions_of, waiting_reason

S = 1_000_000


def batch(end: int, read: Collection[int], partitions: int = 4) -> BatchInterval:
    """Have one record of each partition that is read."""
    ends = dict.fromkeys(range(partitions), end)
    return BatchInterval("t", {each: end - (each in read) for each in ends}, ends)


def test_before_any_record_with_a_time() -> None:
    assert partitions_of(Clock()) == []
    text = "no record had a usable time in t yet: the first one makes the watermark"
    assert waiting_reason("t", Clock(), None) == text


def test_each_partition_tells_its_progress_and_its_newest_time() -> None:
    first = Clock().after(batch(1, {0, 1, 2}), {0: 5 * S, 2: 9 * S}, waiting={3})
    assert partitions_of(first) == [
        {"partition": 0, "newest": "1970-01-01T00:00:05Z", "progress": "read"},
        {"partition": 1, "newest": None, "progress": "untimed"},
        {"partition": 2, "newest": "1970-01-01T00:00:09Z", "progress": "read"},
        {"partition": 3, "newest": None, "progress": "waits"},
    ]
    assert waiting_reason("t", first, 7 * S) == (
        "the next pane closes when the newest t of each partition with records is 1970-01-01T00:00:07Z or later: "
        "partition 0 is the furthest behind, at 1970-01-01T00:00:05Z; "
        "partition 3 waits, with records that are still to be read, or an end that Kafka did not report"
    )
    # One without records in the last batch keeps what it had, and holds nothing back.
    later = first.after(batch(2, {0}), {0: 8 * S})
    assert [own["progress"] for own in partitions_of(later)] == ["read", "silent", "silent", "silent"]
    assert partitions_of(later)[2]["newest"] == "1970-01-01T00:00:09Z"
    text = waiting_reason("t", later, 7 * S)
    assert "behind" not in text
    assert text.endswith("; partitions 1, 2, 3 are silent, and hold nothing back")
