"""Offsets of time zones, against Python's time zones."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from random import Random
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from asc.operators.cube.zone_offsets import zone_offsets

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
SECOND = timedelta(seconds=1)
ZONES = (
    *("UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe"),
    *("America/St_Johns", "Africa/Casablanca", "Pacific/Apia", "America/Juneau"),
)


def seconds(*date: int) -> int:
    return (datetime(*date, tzinfo=timezone.utc) - EPOCH) // SECOND


def offset_s(zone: ZoneInfo, time_s: int) -> int:
    found = (EPOCH + timedelta(seconds=time_s)).astimezone(zone).utcoffset()
    assert found is not None
    return found // SECOND


@pytest.mark.parametrize("name", ZONES)
def test_offsets_are_those_of_the_zone_from_year_2_to_9998(name: str) -> None:
    zone, random = ZoneInfo(name), Random(1)
    everywhere = [random.randrange(seconds(2, 1, 1), seconds(9998, 1, 1)) for _ in range(1_000)]
    recent = [random.randrange(seconds(1850, 1, 1), seconds(2110, 1, 1)) for _ in range(2_000)]
    starts = zone_offsets(name).starts_s[1:].tolist()
    edges = [start + by for start in starts if seconds(9998, 1, 1) > start for by in (-1, 0)][
        :: max(1, len(starts) // 500)
    ]
    times = [*everywhere, *recent, *edges]
    found = zone_offsets(name).at(np.array(times, dtype=np.int64)).tolist()
    assert found == [offset_s(zone, time_s) for time_s in times]


def test_a_local_time_that_is_skipped_or_there_twice_is_one_instant() -> None:
    zone = zone_offsets("Europe/Berlin")
    clock = [seconds(2026, 3, 29, 2, 30), seconds(2026, 10, 25, 2, 30), seconds(2026, 6, 1)]
    found = zone.first_at(np.array(clock, dtype=np.int64)).tolist()
    assert found == [seconds(2026, 3, 29, 1), seconds(2026, 10, 25, 0, 30), seconds(2026, 5, 31, 22)]
