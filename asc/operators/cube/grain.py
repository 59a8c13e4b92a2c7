"""The check of a cube's grain against a time zone. Panes begin in UTC, and a day of the zone must consist of whole
panes.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from math import gcd
from zoneinfo import ZoneInfo

from asc.errors import CubeError
from asc.predicate.normal_form.normaliser import check_time_zone

_HOUR_S = 3_600
_YEARS = range(2020, 2038)
"""The years for which the offsets of a zone are checked. The years are fixed, so that a restart gives the same result
as the registration.
"""
_MONTHS = (1, 7)
"""Two months, one of which is in summer time if the zone has summer time."""
_SECOND = timedelta(seconds=1)


def check_grain(grain_s: int, time_zone: str) -> None:
    """Raise CubeError if the zone has an offset from UTC that is not a whole number of hours, and the grain does not
    divide the zone's offsets. Raise AscError if the zone is invalid.
    """
    check_time_zone(time_zone)
    if time_zone == "UTC":
        return
    zone_offsets_s = offsets_s(time_zone)
    off_s = next((own for own in sorted(zone_offsets_s) if own % _HOUR_S), None)
    if off_s is None or not any(own % grain_s for own in zone_offsets_s):
        return
    divided_s = gcd(_HOUR_S, *zone_offsets_s)
    remedy = f"give seconds that divide {divided_s:,}, as {divided_s}"
    detail = f"does not divide the offset of the time zone {time_zone}, {_offset_text(off_s)}: {remedy}"
    raise CubeError("grain_s", grain_s, detail)


def offsets_s(time_zone: str) -> set[int]:
    """Return the offsets of a zone from UTC in winter and in summer, in seconds."""
    zone = ZoneInfo(time_zone)
    instants = (datetime(year, month, 1, tzinfo=timezone.utc) for year in _YEARS for month in _MONTHS)
    offsets = (instant.astimezone(zone).utcoffset() for instant in instants)
    return {own // _SECOND for own in offsets if own is not None}


def _offset_text(offset_s: int) -> str:
    """Return the offset of a time zone as the text at the end of a time in ISO 8601.

    >>> _offset_text(19_800), _offset_text(-12_600)
    ('+05:30', '-03:30')
    """
    hours, minutes = divmod(abs(offset_s) // 60, 60)
    return f"{'-' if offset_s < 0 else '+'}{hours:02}:{minutes:02}"
