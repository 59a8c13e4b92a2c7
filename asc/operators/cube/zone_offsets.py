"""Offsets of time zones from UTC, as tables of the periods between two changes of the local clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from asc.frozen import frozen

_Ints = npt.NDArray[np.int64]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SECOND = timedelta(seconds=1)
_DAY_S = 86_400
_ALWAYS_S, _NEVER_S = -(1 << 60), 1 << 60
"""Times in seconds before and after all other times."""

_CYCLE_S = 146_097 * _DAY_S
"""The length of 400 years, after which the Gregorian calendar repeats, with its days of the week."""
_CYCLES = 19
"""The number of times that the years 2100 to 2499 repeat until the year 10099."""


def _january(year: int) -> int:
    return (datetime(year, 1, 1, tzinfo=timezone.utc) - _EPOCH) // _SECOND


_SEARCHES = ((_january(1800), _january(2100), _DAY_S), (_january(2100), _january(2500), 8 * _DAY_S))
"""The intervals of time in which changes of the clock are searched, with the step of the search, in seconds. Before
1800, zones have local mean time. From 2100 on, a zone follows one yearly rule, so that two changes are more than eight
days apart.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ZoneOffsets:
    """The offsets of a time zone from UTC in seconds. Times are in seconds since 1970 in UTC.

    ``starts_s`` int64[n], ascending: the begin of each period with one offset; the first is before all times.
    ``offsets_s`` int64[n]: the offset of each period. ``latest_s`` int64[n], ascending: the latest local time that the
    clock has shown by the end of each period.
    """

    starts_s: _Ints
    offsets_s: _Ints
    latest_s: _Ints

    def at(self, times_s: _Ints) -> _Ints:
        """Return the offset at each time in UTC."""
        offsets_s: _Ints = self.offsets_s[np.searchsorted(self.starts_s, times_s, side="right") - 1]
        return offsets_s

    def first_at(self, clock_s: _Ints) -> _Ints:
        """Return for each local time the first time in UTC at which the local clock shows this or a later local time.

        If the clock skips the local time, the result is the time of the change. If the clock shows it twice, the result
        is the first of the two times.
        """
        periods = np.searchsorted(self.latest_s, clock_s, side="right")
        found: _Ints = np.maximum(self.starts_s[periods], clock_s - self.offsets_s[periods])
        return found


@lru_cache(maxsize=16)
def zone_offsets(time_zone: str) -> ZoneOffsets:
    """Return the offsets of a valid time zone in the years 1 to 9999. Cost: some 0.2 s for a zone that is not in the
    cache.
    """
    changes: list[tuple[int, int]] = []
    first_offset_s = 0
    if time_zone != "UTC":
        zone = ZoneInfo(time_zone)
        first_offset_s = _offset_s(zone, _SEARCHES[0][0])
        once, yearly = (_changes(zone, *search) for search in _SEARCHES)
        changes = once + [(at_s + cycle * _CYCLE_S, own) for cycle in range(_CYCLES + 1) for at_s, own in yearly]
    starts_s = np.array([_ALWAYS_S, *(at_s for at_s, _ in changes)], dtype=np.int64)
    offsets_s = np.array([first_offset_s, *(own for _, own in changes)], dtype=np.int64)
    ends_s = np.append(starts_s[1:], _NEVER_S)
    return ZoneOffsets(frozen(starts_s), frozen(offsets_s), frozen(np.maximum.accumulate(ends_s + offsets_s)))


def _changes(zone: ZoneInfo, first_s: int, end_s: int, step_s: int) -> list[tuple[int, int]]:
    """Return the changes of a zone's offset after ``first_s`` up to ``end_s``, each as its time and the new offset.
    ``step_s``: the step of the search.
    """
    changes: list[tuple[int, int]] = []
    offset_s = _offset_s(zone, first_s)
    low_s = first_s
    while low_s < end_s:
        high_s = min(low_s + step_s, end_s)
        last_offset_s = _offset_s(zone, high_s)
        while offset_s != last_offset_s:
            low_s = _next_change(zone, low_s, high_s, offset_s)
            offset_s = _offset_s(zone, low_s)
            changes.append((low_s, offset_s))
        low_s = high_s
    return changes


def _next_change(zone: ZoneInfo, low_s: int, high_s: int, offset_s: int) -> int:
    """Return the time of a change from ``offset_s``, which is the offset at ``low_s`` and not at ``high_s``."""
    while high_s - low_s > 1:
        middle_s = (low_s + high_s) // 2
        if _offset_s(zone, middle_s) == offset_s:
            low_s = middle_s
        else:
            high_s = middle_s
    return high_s


def _offset_s(zone: ZoneInfo, time_s: int) -> int:
    offset = (_EPOCH + timedelta(seconds=time_s)).astimezone(zone).utcoffset()
    assert offset is not None
    return offset // _SECOND
