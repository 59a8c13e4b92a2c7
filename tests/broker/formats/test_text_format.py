"""What no format of text gives to its parser, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.schema import Schema
from broker.formats import RECORD_FORMATS
from broker.formats.text_format import TextFormat

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EMPTY, HUGE = "value is empty", "value holds a number with an exponent beyond 999"
TEXT_FORMATS = [record_format for record_format in RECORD_FORMATS.values() if isinstance(record_format, TextFormat)]


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
