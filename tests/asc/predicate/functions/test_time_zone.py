"""Which texts are time zones, held against Spark's own reading of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zoneinfo import available_timezones

import pytest

from asc.predicate.functions.time_zone import is_time_zone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CLOCKS = """
1 9 01 17 18 19 1:00 1:5 01:5 01:60 18:00 18:01 18:0 0100 0160 1800 1801 010203 180000 180001 01:02:03 18:00:00 18:00:01
1:02:03 100 01:0203 0102:03 00:0 17:5 1:0:0
"""
_OFFSETS = [
    f"{prefix}{sign}{clock}" for prefix in ("", "UTC", "GMT", "UT", "Z") for sign in "+-" for clock in _CLOCKS.split()
]
_NAMES = [*sorted(available_timezones()), "utc", "Z", "z", "EST", "VST", "posix/UTC", "Factory", "+", "UTC+", "+\u0661"]


def test_names() -> None:
    assert all(map(is_time_zone, ("Europe/Berlin", "CET", "Japan", "EST", "Z", "+01:00", "UTC-5", "GMT+1:30")))
    assert not any(
        map(is_time_zone, ("", "Europe", "Mars/Olympus", "../UTC", "right/UTC", "+19", "\x00/x", "a/" * 999))
    )


@pytest.mark.spark
def test_spark_knows_the_same(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    read = jvm.org.apache.spark.sql.catalyst.util.DateTimeUtils.getZoneId

    def is_known(text: str) -> bool:
        try:
            return bool(read(text))
        except Exception:
            return False

    differing = {text for text in (*_OFFSETS, *_NAMES) if is_time_zone(text) != is_known(text)}
    # Java may know a region that it did not always know.
    assert differing <= {"America/Coyhaique"}
