"""Causes for which a watermark waits: silent and waiting partitions, and the one furthest behind."""

from __future__ import annotations

from broker.operators.cube.partition_times import PartitionTimes

S = 1_000_000
ALL = frozenset(range(4))


def test_before_any_record_with_a_time() -> None:
    none = PartitionTimes()
    assert none.plain("t") == []
    assert none.waits_for("t", None) == "no record had a usable time in t yet: the first one makes the watermark"


def test_each_partition_tells_its_progress_and_its_newest_time() -> None:
    first = PartitionTimes().after({"t": {0: 5 * S, 2: 9 * S}}, ALL, frozenset({0, 1, 2}), frozenset({3}))
    assert first.plain("t") == [
        {"partition": 0, "newest": "1970-01-01T00:00:05Z", "progress": "read"},
        {"partition": 1, "newest": None, "progress": "untimed"},
        {"partition": 2, "newest": "1970-01-01T00:00:09Z", "progress": "read"},
        {"partition": 3, "newest": None, "progress": "waits"},
    ]
    assert first.waits_for("t", 7 * S) == (
        "the next pane closes when the newest t of each partition with records is 1970-01-01T00:00:07Z or later: "
        "partition 0 is the furthest behind, at 1970-01-01T00:00:05Z; "
        "partition 3 waits, with records that are still to be read"
    )
    # One without records in the last batch keeps what it had, and holds nothing back.
    later = first.after({"t": {0: 8 * S}}, ALL, frozenset({0}), frozenset())
    assert [own["progress"] for own in later.plain("t")] == ["read", "silent", "silent", "silent"]
    assert later.plain("t")[2]["newest"] == "1970-01-01T00:00:09Z"
    told = later.waits_for("t", 7 * S)
    assert "behind" not in told
    assert told.endswith("; partitions 1, 2, 3 are silent, and hold nothing back")


def test_times_of_other_expressions_are_apart() -> None:
    found = PartitionTimes().after({"t": {0: S}, "u": {}}, frozenset({0}), frozenset({0}), frozenset())
    assert found.progress("t", 0) == "read"
    assert found.progress("u", 0) == "untimed"
