"""Which texts are patterns of dates and times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.predicate.functions.time_pattern import time_pattern_trouble

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATTERNS = (
    *("yyyy-MM-dd", "dd.MM.yyyy HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "yyyyMMdd", "yyyy-MM-dd[ HH:mm]", "D yy"),
    *(
        "MMM d, yyyy",
        "hh:mm a",
        "VV",
        "O",
        "OOOO",
        "zzzz",
        "''",
        "h 'o''clock'",
        "yyyyyy",
        "SSSSSSSSS",
        "[[]]",
        "[yyyy",
        "LLLL",
    ),
    *("EEEE", "q", "QQQQ", "F", "G", "%", "yyyy/MM/dd", "\U0001f680"),
)
NO_PATTERNS = (
    *(
        "YYYY",
        "ww",
        "u",
        "e",
        "c",
        "n",
        "N",
        "A",
        "B",
        "p",
        "W",
        "EEEEE",
        "MMMMM",
        "GGGGG",
        "yyyyyyy",
        "HHH",
        "ddd",
        "V",
    ),
    *("DDDD", "aa", "OO", "XXXXXX", "SSSSSSSSSS", "'open", "yyyy]", "][", "{", "#", "T", "ii", "FF", "zzzzz"),
    *("QQQQQ", "qqqqq", "VVVV", "ss{", "LLLLL", "ZZZZZZ", "xxxxxx"),
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str) -> None:
    assert time_pattern_trouble(pattern, parses=False) is None


@pytest.mark.parametrize("pattern", [*NO_PATTERNS, "", "y" * 101])
def test_no_patterns(pattern: str) -> None:
    assert "pattern of times" in (time_pattern_trouble(pattern, parses=False) or "")


@pytest.mark.parametrize("pattern", ["E", "F", "q", "yyyy QQ"])
def test_what_is_shown_only_is_not_read(pattern: str) -> None:
    assert time_pattern_trouble(pattern, parses=False) is None
    assert "to read with" in (time_pattern_trouble(pattern, parses=True) or "")


def test_spark_takes_the_same_patterns(spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    def shows(pattern: str) -> bool:
        text = pattern.replace("\\", "\\\\").replace("'", "\\'")
        try:
            spark.range(1).selectExpr(f"date_format(timestamp_seconds(id), '{text}')").collect()
        except PySparkException:
            return False
        return True

    assert [pattern for pattern in PATTERNS if not shows(pattern)] == []
    assert [pattern for pattern in NO_PATTERNS if shows(pattern)] == []
