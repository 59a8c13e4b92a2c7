"""Where a constant falls among the values of another type, against exact arithmetic."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.keys.spaces import space_of
from asc.predicate.expressions.coercion import Position, position, same_coercion, satisfying
from asc.predicate.syntax.literal import Literal, number

OPERATORS = {
    "=": lambda x, y: x == y,
    "<=>": lambda x, y: x == y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}
decimals = st.builds(lambda n, scale: Decimal(n).scaleb(-scale), st.integers(-9_999, 9_999), st.integers(0, 3))


def place(data_type: pa.DataType, literal: Literal, time_zone: str = "UTC") -> Position | None:
    space = space_of(data_type)
    assert space is not None
    return position(space, literal, time_zone)


@given(st.integers(-(2**15), 2**15 - 1), decimals, st.sampled_from(sorted(OPERATORS)))
def test_an_integer_beside_a_decimal(value: int, constant: Decimal, operator: str) -> None:
    found = place(pa.int16(), number(f"{constant:f}BD"))
    assert found is not None
    assert satisfying(operator, found).admits(value) == OPERATORS[operator](value, Fraction(constant))


@given(st.integers(-(10**6), 10**6), decimals, st.sampled_from(sorted(OPERATORS)))
def test_a_decimal_beside_another(unscaled: int, constant: Decimal, operator: str) -> None:
    found = place(pa.decimal128(10, 2), number(f"{constant:f}BD"))
    assert found is not None
    assert satisfying(operator, found).admits(unscaled) == OPERATORS[operator](Fraction(unscaled, 100), constant)


@pytest.mark.parametrize(
    ("data_type", "text", "has_place"),
    [
        (pa.int64(), "9007199254740991D", True),
        (pa.int64(), "9007199254740992D", False),
        (pa.int32(), "9007199254740992D", True),
        (pa.int32(), "16777216F", False),
        (pa.int16(), "16777216F", True),
        (pa.float32(), "16777216", True),
        (pa.float32(), "16777217", False),
        (pa.float64(), "9223372036854775807", True),
        (pa.decimal128(38, 20), "5", True),
        (pa.decimal128(38, 30), "5L", False),
        (pa.decimal128(10, 2), "5D", False),
        (pa.string(), "5", False),
        (pa.bool_(), "1", False),
    ],
)
def test_told_where_nothing_is_lost(data_type: pa.DataType, text: str, has_place: bool) -> None:
    assert (place(data_type, number(text)) is not None) is has_place


def test_a_date_among_timestamps_and_the_other_way_round() -> None:
    day = Literal("DATE '1970-01-02'", pa.date32(), 1)
    noon = Literal("TIMESTAMP_NTZ '1970-01-02 12:00:00'", pa.timestamp("us"), 129_600_000_000)
    assert place(pa.timestamp("us"), day) == ((86_400_000_000, 0), (86_400_000_000, 1))
    assert place(pa.date32(), noon) == ((1, 1), (1, 1))


def test_what_only_spark_reads_is_told_by_spark() -> None:
    assert place(pa.date32(), Literal("DATE '13-1-1'", pa.date32(), None, known=False)) is None


@pytest.mark.parametrize(
    ("data_type", "texts", "is_same"),
    [
        (pa.int32(), ["1", "2L"], True),
        (pa.int32(), ["1", "2.5"], True),
        (pa.int32(), ["1", "2.5D"], False),
        (pa.float64(), ["1", "2L"], True),
        (pa.float64(), ["1", "2.5"], False),
        (pa.decimal128(38, 30), ["1L", "2"], False),
        (pa.string(), ["1", "2L"], False),
    ],
)
def test_lists_that_spark_compares_as_each_alone(data_type: pa.DataType, texts: list[str], is_same: bool) -> None:
    assert same_coercion(data_type, [number(text) for text in texts]) is is_same
