"""Scalars as text: one form for each, and the value can be had back from it."""

from __future__ import annotations

import base64
import json
import math
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.formats.plain_text import json_text, plain_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (1, "1"),
        (-0.0, "-0.0"),
        (1e300, "1e+300"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (Decimal("1E+3"), "1000"),
        (Decimal("-0.00"), "-0.00"),
        (Decimal("1E-20"), "0.00000000000000000001"),
        (date(1, 2, 3), "0001-02-03"),
        (datetime(2013, 1, 1, 10), "2013-01-01T10:00:00"),
        (datetime(2013, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=1))), "2012-12-31T23:30:00Z"),
        (datetime(2013, 1, 1, 10, 0, 0, 7, timezone.utc), "2013-01-01T10:00:00.000007Z"),
        (b"", ""),
        (b"\x00\xff", "AP8="),
        ("", ""),
        ("a,b\n", "a,b\n"),
        ([1, None], "[1,null]"),
        ((True,), "[true]"),
        ({"a": Decimal("1.10")}, '{"a":1.10}'),
    ],
)
def test_each_kind_has_its_form(value: Any, text: str) -> None:
    assert plain_text(value) == text


@given(st.floats(allow_nan=False) | st.integers())
def test_a_number_reads_back(value: float) -> None:
    assert type(value)(plain_text(value)) == value


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_a_decimal_reads_back_with_its_digits_and_without_an_exponent(value: Decimal) -> None:
    text = plain_text(value)
    assert Decimal(text) == value
    assert not set(text) & set("eE")


@given(st.binary())
def test_bytes_read_back(value: bytes) -> None:
    assert base64.b64decode(plain_text(value), validate=True) == value


ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=ZONES))
def test_an_instant_reads_back_and_is_in_utc(value: datetime) -> None:
    text = plain_text(value)
    assert text.endswith("Z")
    assert datetime.fromisoformat(text.removesuffix("Z") + "+00:00") == value


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(deadline=None)
@given(json_values)
def test_json_text_is_json(value: Any) -> None:
    assert json.loads(json_text(value)) == value


def test_json_text_of_what_json_has_no_words_for() -> None:
    assert (
        json_text([float("nan"), float("-inf"), b"\x00\xff", date(1, 1, 1)])
        == '["NaN","-Infinity","AP8=","0001-01-01"]'
    )
