"""Event times as int64 microseconds since 1970, within the years that have an ISO 8601 text."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

FIRST_US, LAST_US = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The first and last microsecond of the years 1 to 9999."""

SPAN_US = LAST_US - FIRST_US
"""The longest duration between two times of these years. The sum of a time and a few such durations fits into a signed
integer of 64 bits.
"""


def is_in_range(time_us: int) -> bool:
    """Return whether a time is within the years 1 to 9999. Any other time is unusable, and moves no mark.

    >>> is_in_range(LAST_US), is_in_range(LAST_US + 1)
    (True, False)
    """
    return FIRST_US <= time_us <= LAST_US


def is_watermark(time_us: int) -> bool:
    """Return whether a watermark is before LAST_US, so that readers use it. Any other watermark would make every record
    late, and is ignored. An earlier version wrote such watermarks for event times after the year 9999.
    """
    return time_us < LAST_US


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def time_text(time_us: int) -> str:
    """Return a time as ISO 8601 in UTC, with microseconds.

    >>> time_text(1_359_619_205_000_000)
    '2013-01-31T08:00:05.000000Z'
    """
    return (_EPOCH + timedelta(microseconds=time_us)).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
