"""Dates and timestamps: what lies beyond Python's calendar, and zones."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.keys.instants import Dates, Timestamps

UTC, LOCAL = Timestamps(pa.timestamp("us", tz="UTC")), Timestamps(pa.timestamp("us"))


@pytest.mark.parametrize(
    ("space", "key", "text"),
    [
        (Dates(pa.date32()), 0, "DATE '1970-01-01'"),
        (Dates(pa.date32()), 2**31 - 1, "DATE 2147483647 days from 1970"),
        (UTC, -1, "TIMESTAMP '1969-12-31 23:59:59.999999Z'"),
        (LOCAL, 0, "TIMESTAMP_NTZ '1970-01-01 00:00:00'"),
        (LOCAL, -(2**63), "TIMESTAMP_NTZ -9223372036854775808 microseconds from 1970"),
    ],
)
def test_texts_within_the_calendar_and_beyond(space: Dates | Timestamps, key: int, text: str) -> None:
    assert space.text(key) == text


def test_any_zone_is_the_same_instant_and_none_is_another_type() -> None:
    oslo = pa.array([0], pa.timestamp("us", tz="Europe/Oslo"))
    assert UTC.readable(oslo) is oslo
    assert LOCAL.readable(oslo) is None
    assert UTC.readable(pa.array([0], pa.timestamp("us"))) is None
    assert UTC.readable(pa.array([0], pa.timestamp("ns", tz="UTC"))) is None
