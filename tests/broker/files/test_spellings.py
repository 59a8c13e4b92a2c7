"""Texts that mean one value however they are read."""

from __future__ import annotations

import datetime as dt
import re

import pytest

from asc.schema import Schema
from broker.files.spellings import DATE, spelling_of


@pytest.mark.parametrize(
    ("ddl", "plain", "odd"),
    [
        ("BOOLEAN", ["true", "false"], ["TRUE", "1", "", "t"]),
        ("INT", ["0", "-7", "2147483648"], ["+5", "007", "1.0", " 1", "NA", "1_0", "\u0661"]),
        ("DOUBLE", ["1", "-0.5", "1.5e-10"], [".5", "5.", "NaN", "1e400", "1d", "0x1p3"]),
        ("DECIMAL(5,2)", ["123.45", "-1", "7.5"], ["1234", "1.005", "1e2", "1,0"]),
        ("DECIMAL(2,2)", ["0.25", "-0", "0.5"], ["1", "0.125", ".5", "00"]),
        ("DECIMAL(3,0)", ["123"], ["1.0", "1234"]),
        ("DATE", ["2013-01-31"], ["2013-1-31", "2013-13-01", "2013", "0999-01-01", "2013-01-31 "]),
        ("TIMESTAMP", ["2013-01-31T10:00:00Z", "2013-01-31 10:00:00.123456"], ["2013-01-31", "2013-01-31T24:00:00Z"]),
        ("TIMESTAMP_NTZ", ["2013-01-31T10:00:00"], ["2013-01-31T10:00:00Z", "2013-01-31T10:00:00+01:00"]),
    ],
)
def test_plain_and_odd_spellings(ddl: str, plain: list[str], odd: list[str]) -> None:
    spelling = spelling_of(Schema.from_ddl(f"x {ddl}").arrow.field("x").type, is_utc=True)
    assert spelling is not None
    for text in plain:
        assert re.fullmatch(spelling, text, re.ASCII), text
    for text in odd:
        assert not re.fullmatch(spelling, text, re.ASCII), text


def test_a_plain_day_is_one_of_the_calendar() -> None:
    days = re.compile(DATE, re.ASCII)
    for year in (1000, 1200, 1900, 1999, 2000, 2013, 2024, 2100, 2400, 2999):
        for month in range(14):
            for day in range(33):
                assert bool(days.fullmatch(f"{year}-{month:02}-{day:02}")) == _is_day(year, month, day)


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        dt.date(year, month, day)
    except ValueError:
        return False
    return True


def test_a_time_without_a_zone_is_plain_in_utc_alone() -> None:
    zoned = Schema.from_ddl("x TIMESTAMP").arrow.field("x").type
    spelling = spelling_of(zoned, is_utc=False)
    assert spelling is not None
    assert re.fullmatch(spelling, "2013-01-31T10:00:00Z")
    assert not re.fullmatch(spelling, "2013-01-31T10:00:00")


@pytest.mark.parametrize("ddl", ["BINARY", "ARRAY<INT>", "STRUCT<a: INT>"])
def test_types_of_which_there_are_none(ddl: str) -> None:
    assert spelling_of(Schema.from_ddl(f"x {ddl}").arrow.field("x").type, is_utc=True) is None
