"""Times of partitions: how far each partition of a stream is in event time, and what a watermark waits for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from asc.operators.cube.json_values import instant_text

Progress = Literal["read", "silent", "waits", "untimed"]
"""State of a partition in the last batch.

Records with a time; no record, and there is none; no record, though there are some; records without a usable time.
"""

_NONE: Mapping[str, Mapping[int, int]] = MappingProxyType({})
_NAMED = 5
"""The most partitions that a sentence names."""


@dataclass(frozen=True, slots=True)
class PartitionTimes:
    """The progress of all partitions, as the last batch left it; nothing is known of a batch before the daemon began.

    ``newest_us``: by time expression and partition, the newest time of the last batch that had one. ``last_us``: those
    of the last batch alone. ``partitions``: all of the topic; ``read``: those of which the last batch had records;
    ``waiting``: those of which it had none, though there are some.
    """

    newest_us: Mapping[str, Mapping[int, int]] = field(default_factory=lambda: _NONE)
    last_us: Mapping[str, Mapping[int, int]] = field(default_factory=lambda: _NONE)
    partitions: frozenset[int] = frozenset()
    read: frozenset[int] = frozenset()
    waiting: frozenset[int] = frozenset()

    def after(
        self,
        newest_us: Mapping[str, Mapping[int, int]],
        partitions: frozenset[int],
        read: frozenset[int],
        waiting: frozenset[int],
    ) -> PartitionTimes:
        """Return them after one more batch."""
        known = {time: {**self.newest_us.get(time, {}), **own} for time, own in newest_us.items()}
        return PartitionTimes({**self.newest_us, **known}, dict(newest_us), partitions, read, waiting)

    def progress(self, time: str, partition: int) -> Progress:
        """Return what the last batch had of a partition."""
        if partition in self.waiting:
            return "waits"
        if partition not in self.read:
            return "silent"
        return "read" if partition in self.last_us.get(time, {}) else "untimed"

    def plain(self, time: str) -> list[dict[str, Any]]:
        """Return each partition with its newest time and its progress, as answers have them."""
        newest = self.newest_us.get(time, {})
        return [
            {
                "partition": each,
                "newest": None if each not in newest else instant_text(newest[each]),
                "progress": self.progress(time, each),
            }
            for each in sorted(self.partitions)
        ]

    def waits_for(self, time: str, closes_us: int | None) -> str:
        """Return in one sentence what the watermark of a time expression waits for.

        ``closes_us``: the mark at which the next pane closes; None before the first record with a time.
        """
        if closes_us is None:
            found = f"no record had a usable time in {time} yet: the first one makes the watermark"
        else:
            needed = f"the next pane closes when the newest {time} of each partition with records is {_at(closes_us)}"
            found = f"{needed}{self._behind(time, closes_us)}"
        silent = [each for each in sorted(self.partitions) if self.progress(time, each) == "silent"]
        waiting = [each for each in sorted(self.partitions) if self.progress(time, each) == "waits"]
        if silent:
            found += f"; {_named(silent)} {_verb(silent, 'is', 'are')} silent, and hold{_s(silent)} nothing back"
        if waiting:
            found += f"; {_named(waiting)} wait{_s(waiting)}, with records that are still to be read"
        return found

    def _behind(self, time: str, closes_us: int) -> str:
        """Return which partition of the last batch is the furthest behind, where one is before a mark."""
        last = self.last_us.get(time, {})
        if not last:
            return ""
        least = min(last, key=lambda each: (last[each], each))
        if last[least] >= closes_us:
            return ""
        return f": partition {least} is the furthest behind, at {instant_text(last[least])}"


def _at(closes_us: int) -> str:
    return f"{instant_text(closes_us)} or later"


def _named(partitions: list[int]) -> str:
    """Return partitions in words.

    >>> _named([3]), _named([1, 2])
    ('partition 3', 'partitions 1, 2')
    """
    shown = ", ".join(map(str, partitions[:_NAMED])) + (", ..." if len(partitions) > _NAMED else "")
    return f"partition{'' if len(partitions) == 1 else 's'} {shown}"


def _verb(partitions: list[int], one: str, several: str) -> str:
    return one if len(partitions) == 1 else several


def _s(partitions: list[int]) -> str:
    return _verb(partitions, "s", "")
