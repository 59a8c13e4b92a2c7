"""The progress of event time from batch to batch, for all cubes with the same time expression."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from asc.operators.event_time import EventTimeProgress
from broker.operators.cube.coverage import BatchInterval, Place

PartitionState = Literal["read", "silent", "waits", "untimed"]
"""The state of a partition in a batch.

``read``: the batch has records of the partition with a time. ``silent``: the batch has no record of the partition, and
the partition has no unread records. ``waits``: the batch has no record of the partition, although unread records exist,
or may exist because Kafka did not report the partition's end. ``untimed``: the batch has records of the partition, and
none of them has a usable time.
"""


@dataclass(frozen=True, slots=True)
class Clock:
    """The progress of event time after a batch, for the cubes of one time expression. ``ends``: by topic and partition,
    the offset after the last batch that contributed a time.

    All cubes of one time expression share the clock, also if only some of them fold the batch. A partition is
    identified by the id of its topic, because a topic that is deleted and created again has another id. ``states``: the
    state of each partition in the last batch; empty before the first batch of a daemon.
    """

    progress: EventTimeProgress = field(default_factory=EventTimeProgress)
    ends: Mapping[Place, int] = field(default_factory=lambda: MappingProxyType({}))
    states: Mapping[int, PartitionState] = field(default_factory=lambda: MappingProxyType({}))

    def after(self, batch: BatchInterval, newest: Mapping[int, int], waiting: Collection[int] = ()) -> Clock:
        """Return the clock after a batch. ``newest``: the newest time of the batch's records by partition, in
        microseconds since the epoch. ``waiting``: the partitions in the state ``waits``. Offsets that an earlier batch
        already read do not change the clock.
        """
        topic, places = batch.topic_id, batch.places
        newest_by_partition = {
            partition: newest[partition]
            for (_, partition), (_, end) in places.items()
            if partition in newest and self.ends.get((topic, partition), 0) <= end
        }
        read = [partition for (_, partition), (first, end) in places.items() if first != end]
        ends = {(topic, partition): batch.end[partition] for partition in newest_by_partition}
        # If a topic was deleted and created again, forget the times of the former topic.
        kept = {
            place: end for place, end in self.ends.items() if place[0] == topic or place[1] not in newest_by_partition
        }
        states = {each: _state(each, newest, read, waiting) for each in batch.end}
        return Clock(self.progress.after(newest_by_partition, read=read, waiting=waiting), {**kept, **ends}, states)

    def time_after(self, place: Place, offset: int) -> int | None:
        """Return the newest time of a partition if it comes from a batch that ended at ``offset`` or later. Otherwise
        return None.
        """
        end = self.ends.get(place)
        if end is None:
            topics = [topic for topic, partition in self.ends if partition == place[1]]
            return self.progress.newest.get(place[1]) if topics else None
        return self.progress.newest.get(place[1]) if end >= offset else None


@dataclass(frozen=True, slots=True)
class BatchTime:
    """The event time of a batch: the clocks before and after the batch. ``commit``: the number of the batch's commit.
    ``lateness_us``: the allowed lateness in microseconds.
    """

    commit: int
    lateness_us: int
    before: Clock
    after: Clock

    @property
    def watermark_us(self) -> int | None:
        """Return the watermark after the batch, in microseconds since the epoch. Return None if no record has had a
        time yet.
        """
        mark_us = self.after.progress.mark_us
        return None if mark_us is None else mark_us - self.lateness_us

    def open_before(self, grain_us: int) -> int | None:
        """Return the first pane that is open when the batch begins. Return None if no pane is closed."""
        return first_open(self.before.progress.mark_us, self.lateness_us, grain_us)

    def open_after(self, grain_us: int) -> int | None:
        """Return the first pane that is open after the batch. Return None if no pane is closed."""
        return first_open(self.after.progress.mark_us, self.lateness_us, grain_us)


def _state(
    partition: int, newest: Mapping[int, int], read: Collection[int], waiting: Collection[int]
) -> PartitionState:
    if partition in waiting:
        return "waits"
    if partition not in read:
        return "silent"
    return "read" if partition in newest else "untimed"


def first_open(mark_us: int | None, lateness_us: int, grain_us: int) -> int | None:
    """Return the number of the first open pane: the first one whose exclusive end is after the watermark. Return None
    if there is no mark. All times are in microseconds.

    >>> first_open(70, 10, 60), first_open(69, 10, 60), first_open(None, 10, 60)
    (1, 0, None)
    """
    return None if mark_us is None else (mark_us - lateness_us) // grain_us
