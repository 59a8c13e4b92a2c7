"""What no format of text gives to its parser, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.schema import Schema
from broker.formats.registry import RECORD_FORMATS
from broker.formats.text_format import TextFormat

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EMPTY, HUGE = "value is empty", "value holds a number with an exponent beyond 999"
LONG = "value holds a number of more than 10,000 digits"
TEXT_FORMATS = [record_format for record_format in RECORD_FORMATS.values() if isinstance(record_format, TextFormat)]


@pytest.mark.parametrize("record_format", TEXT_FORMATS, ids=lambda record_format: record_format.name)
def test_a_number_of_very_many_digits_is_not_parsed(spark: SparkSession, record_format: TextFormat) -> None:
    """A million of them take Java half a minute."""
    from pyspark.sql import functions as sf

    long = b"1" * 10_001
    expected = {
        long[1:]: None,
        # A value of JSON is read before it is seen that letters follow it.
        **{b"0," + long + end: LONG for end in (b"", b"x")},
        b"-0." + long + b",2": LONG,
        b'{"p": "' + b"1," * 5_001 + b'"}': LONG,
        b"1," * 20_000: None,
        "١".encode() * 10_001: LONG,
    }
    values = spark.createDataFrame([(bytearray(value),) for value in expected], "value BINARY")
    unparsed = record_format.unparsed(sf.col("value"), Schema.from_ddl("p DECIMAL(9,2)"), {})
    found = values.select(unparsed.alias("reason")).collect()
    assert [row.reason for row in found] == list(expected.values())
    commas = record_format.unparsed(sf.col("value"), Schema.from_ddl("p DECIMAL(9,2)"), {"sep": ";"})
    assert {row[0] for row in values.filter("octet_length(value) = 40000").select(commas).collect()} == {LONG}


@pytest.mark.parametrize("record_format", TEXT_FORMATS, ids=lambda record_format: record_format.name)
@pytest.mark.parametrize(
    ("ddl", "reasons"),
    [
        ("n INT", {b"": EMPTY, b" ": EMPTY, b"\xff": "value is not UTF-8 text", b"1e5000": None, b"1": None}),
        ("n STRUCT<p: DECIMAL(9,2)>", {b"1e5000": HUGE, b"1e999": None, b"x1e5000": None, "1e٥٥٥٥".encode(): HUGE}),
    ],
)
def test_why_a_value_is_not_parsed(
    spark: SparkSession, record_format: TextFormat, ddl: str, reasons: dict[bytes, str | None]
) -> None:
    from pyspark.sql import functions as sf

    values = spark.createDataFrame([(bytearray(value),) for value in reasons], "value BINARY")
    unparsed = record_format.unparsed(sf.col("value"), Schema.from_ddl(ddl), {})
    found = {bytes(row.value): row.reason for row in values.select("value", unparsed.alias("reason")).collect()}
    assert found == reasons
