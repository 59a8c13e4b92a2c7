"""Names of time zones that Spark and the table of zones agree about."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

_OFFSET = re.compile(r"(?:UTC|GMT)?[+-](?:0\d|1[0-7]):[0-5]\d\Z", re.ASCII)


def is_time_zone(name: str) -> bool:
    """Whether a text names a time zone.

    >>> is_time_zone("Europe/Berlin"), is_time_zone("+01:00"), is_time_zone("nowhere")
    (True, True, False)
    """
    if _OFFSET.match(name):
        return True
    try:
        return ("/" in name and bool(ZoneInfo(name).key)) or name in ("UTC", "GMT")
    except (ValueError, OSError, LookupError):
        return False
