"""Literals: their types at the ends of each, and instants in time zones."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.predicate.syntax.literal import (
    date,
    day_start_micros,
    is_never_date,
    is_never_timestamp,
    number,
    string,
    timestamp,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("raw", "data_type", "value"),
    [
        ("2147483647", pa.int32(), 2**31 - 1),
        ("2147483648", pa.int64(), 2**31),
        ("-9223372036854775808", pa.int64(), -(2**63)),
        ("9223372036854775808", pa.decimal128(19, 0), Decimal(2**63)),
        ("127y", pa.int8(), 127),
        ("-5s", pa.int16(), -5),
        ("5L", pa.int64(), 5),
        ("1.50", pa.decimal128(3, 2), Decimal("1.50")),
        (".5", pa.decimal128(1, 1), Decimal("0.5")),
        ("1e3", pa.float64(), 1000.0),
        ("1e3BD", pa.decimal128(4, 0), Decimal(1000)),
        ("0.1F", pa.float32(), 0.10000000149011612),
        ("1d", pa.float64(), 1.0),
    ],
)
def test_numbers(raw: str, data_type: pa.DataType, value: object) -> None:
    literal = number(raw)
    assert (literal.type, literal.value, literal.known) == (data_type, value, True)


@pytest.mark.parametrize(
    "raw",
    ["128Y", "32768S", "9223372036854775808L", "1e400", "1e39F", "1" * 39, "-" + "1" * 4301, "9" * 5000 + "L"],
    ids=lambda raw: raw[-20:],
)
def test_numbers_outside_of_their_type(raw: str) -> None:
    with pytest.raises(ValueError, match=r"outside the range|more than 38 digits"):
        number(raw)


@pytest.mark.parametrize("raw", ["-0", "-007", "0" * 5000 + "7", "-" + "0" * 5000 + "7L"], ids=lambda raw: raw[-4:])
def test_leading_zeros_count_nothing(raw: str) -> None:
    assert abs(number(raw).value) == int(raw.endswith(("7", "7L"))) * 7


@given(st.dates())
def test_dates_are_days(day: dt.date) -> None:
    assert date(day.isoformat()) == (day - dt.date(1970, 1, 1)).days


@pytest.mark.parametrize("text", ["2013-1-1", "2013-02-30", "2013-01-01 ", "", "0000-01-01", "20130101"])
def test_other_spellings_of_dates_are_sparks(text: str) -> None:
    assert date(text) is None


@given(st.datetimes())
def test_timestamps_are_microseconds(moment: dt.datetime) -> None:
    micros = (moment - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
    assert timestamp(moment.isoformat(sep=" "), None) == timestamp(moment.isoformat(sep="T"), "UTC") == micros


def test_the_offset_from_before_a_change_of_the_clocks() -> None:
    before = timestamp("2013-03-31 01:59:59", "Europe/Berlin")
    within = timestamp("2013-03-31 02:30:00", "Europe/Berlin")
    assert before is not None
    assert within is not None
    assert within - before == 1_801 * 1_000_000
    assert timestamp("1999-12-31 12:00:00", "Europe/Berlin") is None


def test_days_that_begin_after_midnight_are_sparks() -> None:
    day = date("2013-10-20")
    assert day is not None
    assert day_start_micros(day, "America/Sao_Paulo") is None
    assert day_start_micros(day, "UTC") == day * 86_400 * 10**6
    assert day_start_micros(10**9, "UTC") is None


@pytest.mark.parametrize(
    ("raw", "value"), [(r"'a\'b'", "a'b"), (r"r'\n'", r"\n"), (r"'\101'", "A"), (r"'\U0001F680'", "🚀"), ('"\'"', "'")]
)
def test_strings(raw: str, value: str) -> None:
    assert string(raw) == value


@pytest.mark.spark
def test_a_text_that_is_never_an_instant_or_a_number_is_null_to_spark(spark: SparkSession) -> None:
    begins = ("", " ", "\t", "+", "-", "T", "x", ".", "0x", "\u00a0")
    middles = (
        "",
        "hot",
        "nan",
        "Infinity",
        "inf",
        "1",
        "12",
        "2024",
        "20240",
        "2024-2-29",
        "2023-02-29",
        "12:30",
        "1e3",
    )
    ends = ("", " ", "f", "D", "T", "T1:2:3", " 1:2", "Z", "+01:00", "x", "-", ".5", "L")
    texts = ["".join(parts) for parts in product(begins, middles, ends)]
    kinds = ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ")
    casts = [f"TRY_CAST(text AS {kind}) IS NOT NULL AS c{place}" for place, kind in enumerate(kinds)]
    rows = spark.createDataFrame([(text,) for text in texts], "text STRING").selectExpr("text", *casts).collect()
    never = (is_never_date, is_never_timestamp, is_never_timestamp)
    wrong = [
        (row.text, kinds[place]) for row in rows for place, one in enumerate(never) if one(row.text) and row[place + 1]
    ]
    assert wrong == []
    # And most of what Spark takes for none is seen to be none.
    assert sum(is_never_timestamp(text) for text in texts) > len(texts) / 3
