"""Times of records as people read them: Kafka takes any number that a producer sets, and few of them are dates."""

from __future__ import annotations

from datetime import datetime, timezone


def time_text(timestamp_ms: int | None) -> str:
    """The time of a record (ms since 1970) in UTC; that of none is negative.

    >>> time_text(0), time_text(1_500_000_000_123), time_text(-1), time_text(None)
    ('1970-01-01T00:00:00.000Z', '2017-07-14T02:40:00.123Z', 'none', 'none')
    >>> time_text(10**15)
    '1000000000000000 ms since 1970'
    """
    if timestamp_ms is None or timestamp_ms < 0:
        return "none"
    try:
        at = datetime.fromtimestamp(timestamp_ms / 1000, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return f"{timestamp_ms} ms since 1970"
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
