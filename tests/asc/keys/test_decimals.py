"""Decimals on both sides of 18 digits."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.keys.decimals import LongDecimals, ShortDecimals, decimal_key, unscaled_of

unscaled = st.integers(-(10**38) + 1, 10**38 - 1)


@given(unscaled, unscaled)
def test_bytes_sort_as_digits_do(a: int, b: int) -> None:
    assert (decimal_key(a) < decimal_key(b)) == (a < b)
    assert len(decimal_key(a)) == 16


@given(st.integers(-(10**38) + 1, 10**38 - 1), st.integers(0, 38))
def test_digits_of_a_value(number: int, scale: int) -> None:
    sign, digits = int(number < 0), tuple(map(int, str(abs(number))))
    assert unscaled_of(Decimal((sign, digits, -scale))) == number


def test_a_positive_exponent_counts() -> None:
    assert unscaled_of(Decimal("1E+3")) == 1000


@pytest.mark.parametrize(("precision", "is_long"), [(1, False), (18, False), (19, True), (38, True)])
def test_labels_from_nineteen_digits_on(precision: int, is_long: bool) -> None:
    data_type = pa.decimal128(precision, 0)
    short, long = ShortDecimals.of(data_type), LongDecimals.of(data_type)
    assert (short is None, long is None) == (is_long, not is_long)
    space = short or long
    assert space is not None
    assert space.labelled is is_long
    assert space.domain.high == space.key(10**precision - 1)
    assert space.text(space.key(-(10**precision) + 1)) == "-" + "9" * precision
