"""Texts that are numbers to Spark, compared with its casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from asc.predicate.expressions.number_text import is_literal_without_quotes, is_number_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAIN = ("hot", "", "1", "-1", "+1", "1.5", "1.", ".", "+", "-", "+.", "-.5", ".5", "--1", "+-1", "- 1", "1 2", "00005")
ODD = ("1x", "12 apples", "1,000", "1_000", "0x10", "1.2.3", "1..2", "1.x", "1L", "1df", "d", "e5", "1BD", "1S", "1Y")
SPACED = (" 1 ", "\t1\n", "\x001\x00", "\x7f1", "\u00a01", "\u30001", "1\u200b", "\x1f1\x1c", " . ", "\x851")
EXPONENTS = (
    "1e5",
    "1E5",
    "1e+5",
    "1e-5",
    "1e",
    "1e5.0",
    "1.5e3",
    "1.2e3.4",
    "1e400",
    "1e-400",
    "1d",
    "1F",
    "1.5d",
    "1e5f",
)
WORDS = ("inf", "-inf", "+INF", "Infinity", "-infinity", "+Infinity", "infinit", "in f", "nan", "NaN", "+NaN", "-NaN")
SIGNED_WORDS = ("+nan", "-nan", " nan ", "\x7fnan", "nanf", "Infinityd")
HEXADECIMAL = ("0x1p3", "0X1.8P-1", "0x.8p1d", "0x1", "0xp1", "0x1.p3", "+0x1p3", "0x1p+3f", "0x.p1", "0x1.8")
OTHER_DIGITS = ("\u0663", "\uff11", "\u00bd", "\u0131nf", "\u0130nf")
BOUNDS = [
    f"{sign}{(1 << bits) + more}{fraction}"
    for bits in (7, 15, 31, 63)
    for sign, more in (("", -1), ("", 0), ("-", 0), ("-", 1))
    for fraction in ("", ".9")
]
LONG = ("9" * 60, "-" + "0" * 60 + "1.5", "9" * 5_000)
TEXTS = (*PLAIN, *ODD, *SPACED, *EXPONENTS, *WORDS, *SIGNED_WORDS, *HEXADECIMAL, *OTHER_DIGITS, *BOUNDS, *LONG)
TYPES = {
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
}


@pytest.mark.parametrize(
    ("text", "integer", "floating"),
    [("1x", False, False), ("1,000", False, False), ("1.5", True, True), ("1e5", False, True), (".", True, False)],
)
def test_a_text_is_a_number_of_a_type(text: str, integer: bool, floating: bool) -> None:
    assert is_number_text(text, pa.int32()) is integer
    assert is_number_text(text, pa.float64()) is floating


@pytest.mark.spark
@pytest.mark.nightly
def test_spark_casts_the_texts_that_are_numbers_and_no_others(spark: SparkSession) -> None:
    df = spark.createDataFrame([(text,) for text in TEXTS], "s STRING")
    wrong = [
        (row[0], kind, value)
        for row in df.selectExpr("s", *(f"CAST(s AS {kind})" for kind in TYPES)).collect()
        for (kind, target), value in zip(TYPES.items(), row[1:], strict=True)
        if is_number_text(row[0], target) is (value is None)
    ]
    assert wrong == []


@pytest.mark.spark
@pytest.mark.nightly
def test_a_comparison_with_a_text_casts_it_to_the_type_of_the_number(spark: SparkSession) -> None:
    """A decimal is compared as a DOUBLE. IN compares texts, so that none but a number as it is shown is found."""
    kinds = {**TYPES, "DECIMAL(10, 2)": pa.float64()}
    texts = [text for text in TEXTS if len(text) < 100]
    df = spark.createDataFrame([(text,) for text in texts], "s STRING").coalesce(1).localCheckpoint()
    asked = [f"(CAST(1 AS {kind}) = s) IS NULL" for kind in kinds]
    found = df.selectExpr("s", *asked, *(f"CAST(1 AS {kind}) IN (s)" for kind in kinds)).collect()
    for row in found:
        is_null, is_listed = row[1 : 1 + len(kinds)], row[1 + len(kinds) :]
        assert list(is_null) == [not is_number_text(row[0], target) for target in kinds.values()], row[0]
        listed = [target for target, found in zip(kinds.values(), is_listed, strict=True) if found]
        assert all(is_number_text(row[0], target) for target in listed), row[0]


@pytest.mark.spark
@pytest.mark.nightly
def test_a_number_that_needs_no_quotes_is_a_literal_of_spark(spark: SparkSession) -> None:
    texts = [text for text in TEXTS if is_literal_without_quotes(text) and len(text) < 40 and "\0" not in text]
    assert len(texts) > 30
    # 1e400 is beyond a DOUBLE as a literal, and an infinity as a text.
    for text in set(texts) - {"1e400"}:
        spark.range(1).selectExpr(f"1.0D < {text}")
