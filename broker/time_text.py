"""Texts of timestamps of records, for people to read. Kafka accepts any number from a producer, and not every number is
a date.
"""

from __future__ import annotations

from datetime import datetime, timezone


def time_text(timestamp_ms: int | None) -> str:
    """Return the timestamp of a record (ms since 1970) as UTC text. A negative or missing timestamp becomes
    ``none``.

    >>> time_text(0), time_text(1_500_000_000_123), time_text(-1), time_text(None)
    ('1970-01-01T00:00:00.000Z', '2017-07-14T02:40:00.123Z', 'none', 'none')
    >>> time_text(10**15)
    '1000000000000000 ms since 1970'
    """
    at = _time(timestamp_ms)
    return at if isinstance(at, str) else at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def page_time(timestamp_ms: float | None) -> str:
    """Return a time (ms since 1970) in the form used on pages: UTC, to the second.

    >>> page_time(1_500_000_000_123), page_time(None), page_time(10**15)
    ('2017-07-14 02:40:00 UTC', 'none', '1000000000000000 ms since 1970')
    """
    at = _time(timestamp_ms)
    return at if isinstance(at, str) else _page_form(at)


def page_date(text: str) -> str:
    """Return a time in ISO 8601 with an offset, converted to the form of :func:`page_time`.

    >>> page_date("2030-01-31T13:00:00.500+01:00"), page_date("2030-01-31T12:00:00Z")
    ('2030-01-31 12:00:00 UTC', '2030-01-31 12:00:00 UTC')
    """
    return _page_form(datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc))


def _page_form(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def _time(timestamp_ms: float | None) -> datetime | str:
    """Return a time (ms since 1970) as a date in UTC. Return a text if the time is missing, negative or too large for a
    date.
    """
    if timestamp_ms is None or timestamp_ms < 0:
        return "none"
    try:
        return datetime.fromtimestamp(timestamp_ms / 1000, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return f"{timestamp_ms} ms since 1970"
