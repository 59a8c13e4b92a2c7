"""Times written by Java's patterns: as Spark writes them, so that Spark reads them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from broker.formats.time_pattern import TimePattern

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATTERNS = [
    "yyyy-MM-dd HH:mm:ss",
    "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "dd/MM/yyyy hh:mm a",
    "d.M.y H:m:s",
    "yyyyMMddHHmmss",
    "dd MMM yyyy HH:mm:ss",
    "MMMM d, yyyy K:mm a",
    "yyyy-DDD kk:mm:ss.S",
    "yy-MM-dd HH",
    "yyyy-MM-dd[ HH:mm[:ss]][ X]",
    "'at' yyyy ''MM'' dd 'o''clock' HH",
    "yyyy-MM-dd HH:mm:ss x",
    "yyyy-MM-dd HH:mm:ss xx",
    "yyyy-MM-dd HH:mm:ss xxx",
    "yyyy-MM-dd HH:mm:ss Z",
    "yyyy-MM-dd HH:mm:ss ZZZZ",
    "yyyy-MM-dd HH:mm:ss ZZZZZ",
    "yyyy-MM-dd HH:mm:ss VV",
    "yyyy-MM-dd HH:mm:ss O",
    "LL/dd/yyyy",
]
TIMES = [
    datetime(2013, 1, 31, 9, 5, 7, 123456, timezone.utc),
    datetime(2099, 12, 1, 0, 0, 0, 0, timezone.utc),
    datetime(2024, 2, 29, 12, 59, 59, 999999, timezone.utc),
    datetime(2000, 5, 4, 23, 0, 0, 1, timezone.utc),
]


def test_it_writes_what_spark_writes(spark: SparkSession) -> None:
    """The session is in UTC; ``date_format`` is given the pattern as the parser is."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    frame = session.createDataFrame([(time,) for time in TIMES], "at TIMESTAMP")
    quoted = ['"' + pattern.replace("\\", "\\\\").replace('"', '\\"') + '"' for pattern in PATTERNS]
    for time, row in zip(
        TIMES, frame.selectExpr(*(f"date_format(at, {text})" for text in quoted)).collect(), strict=True
    ):
        assert [TimePattern.of(pattern).written(time) for pattern in PATTERNS] == list(row)
        for pattern, text in zip(PATTERNS, row, strict=True):
            assert TimePattern.of(pattern).is_shape_of(text), (pattern, text)


def test_a_zone_is_written_as_utc() -> None:
    oslo = datetime(2013, 1, 31, 10, tzinfo=timezone(timedelta(hours=1)))
    assert TimePattern.of("yyyy-MM-dd HH:mmX").written(oslo) == "2013-01-31 09:00Z"
    assert TimePattern.of("yyyy-MM-dd HH:mm").written(oslo) == "2013-01-31 10:00"


@pytest.mark.parametrize(
    ("pattern", "locale", "letters"),
    [
        ("EEE, dd MMM yyyy", "en-US", "EEE"),
        ("yyyy-MM-dd G", "en-US", "G"),
        ("dd MMMM yyyy", "nb-NO", "MMMM"),
        ("YYYY-MM-dd", "en-US", "YYYY"),
        ("yyyy-MM-ddd", "en-US", "ddd"),
        ("yyyy-MM-dd {", "en-US", "{"),
        ("yyyy 'at", "en-US", "'"),
        ("yyyy QQQ", "en-US", "QQQ"),
    ],
)
def test_what_cannot_be_written_is_named(pattern: str, locale: str, letters: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(letters)}$"):
        TimePattern.of(pattern, locale)


def test_two_digits_hold_one_century() -> None:
    with pytest.raises(ValueError, match="year 1999"):
        TimePattern.of("yy-MM-dd").written(datetime(1999, 1, 1))


def test_shapes() -> None:
    pattern = TimePattern.of("dd/MM/yyyy HH:mm")
    assert pattern.is_shape_of("31/01/2013 10:00")
    for text in ("2013-01-31 10:00", "31/01/2013 10:00 ", "", "٣1/01/2013 10:00"):
        assert not pattern.is_shape_of(text)
