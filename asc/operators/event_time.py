"""Progress of event time: the rule by which records move the mark of a stream (the event time that the stream has
reached) forward. No other module has such a rule.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class EventTimeProgress:
    """Progress of a stream in event time, by one time expression, in microseconds since 1970.

    ``mark_us``: the mark, which is the event time that the stream has reached; None before the first record with a
    time. ``newest``: the newest time in the last batch of each partition; its value is None if no record of the
    partition has had a time.

    >>> own = EventTimeProgress().after({0: 50, 1: 30}, waiting={2})
    >>> own.mark_us, own.after({0: 60, 2: 40}).mark_us, own.after({0: 60, 2: 40}).after({0: 70}, waiting={1}).mark_us
    (None, 40, 40)
    """

    mark_us: int | None = None
    newest: Mapping[int, int | None] = field(default_factory=lambda: MappingProxyType({}))

    def after(
        self, newest: Mapping[int, int], *, read: Collection[int] = (), waiting: Collection[int] = ()
    ) -> EventTimeProgress:
        """Return the progress after a batch with the newest times of its partitions.

        The mark is the least of the newest times of the partitions with records, unless the mark was already later. A
        waiting partition counts with the newest time of its last batch. If a waiting partition was never read, the mark
        stays where it was. A partition without unread records does not hold the mark back. ``read``: the partitions of
        which the batch has records, even if these have no time. ``waiting``: the partitions of which the batch has no
        records, although unread records exist.
        """
        known = {**dict.fromkeys(read), **self.newest, **newest}
        if not newest or not known.keys() >= set(waiting):
            return EventTimeProgress(self.mark_us, known)
        held = [time_us for each in waiting if (time_us := known[each]) is not None]
        least = min([*newest.values(), *held])
        return EventTimeProgress(least if self.mark_us is None else max(least, self.mark_us), known)
