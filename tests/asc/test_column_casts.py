"""Columns of another type than the schema's: taken where every value fits, refused by value where one does not."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from asc.column_casts import fitted
from asc.errors import PlanError
from asc.keys.attribute import PAttribute

US, ZONED = pa.timestamp("us"), pa.timestamp("us", tz="UTC")


def into(values: list[Any], given: pa.DataType, wanted: pa.DataType) -> Any:
    found = fitted(PAttribute("x", wanted, ("x",)), pa.array(values, given))
    assert found.type == wanted
    return found.to_pylist()


@pytest.mark.parametrize(
    ("values", "given", "wanted", "expected"),
    [
        ([1, None, -(2**31)], pa.int64(), pa.int32(), [1, None, -(2**31)]),
        ([127], pa.int8(), pa.int64(), [127]),
        ([2**63 - 1], pa.uint64(), pa.int64(), [2**63 - 1]),
        ([None, None], pa.null(), pa.string(), [None, None]),
        ([], pa.int64(), pa.int32(), []),
        ([1.0, None], pa.float64(), pa.int32(), [1, None]),
        ([1, 2**53], pa.int64(), pa.float64(), [1.0, 2.0**53]),
        ([1.5, None, float("inf")], pa.float64(), pa.float32(), [1.5, None, float("inf")]),
        ([0.1], pa.float32(), pa.float64(), [0.10000000149011612]),
        ([7, None], pa.int64(), pa.decimal128(3, 2), [Decimal("7.00"), None]),
        ([Decimal("1.50")], pa.decimal128(10, 2), pa.decimal128(3, 1), [Decimal("1.5")]),
        ([Decimal("12.00")], pa.decimal128(10, 2), pa.int8(), [12]),
        ([Decimal("1.5")], pa.decimal256(40, 1), pa.decimal128(5, 2), [Decimal("1.50")]),
    ],
)
def test_values_that_fit(values: list[Any], given: pa.DataType, wanted: pa.DataType, expected: list[Any]) -> None:
    assert into(values, given, wanted) == expected


def test_not_a_number_stays_one() -> None:
    (value,) = into([float("nan")], pa.float64(), pa.float32())
    assert math.isnan(value)


def test_timestamps_of_another_unit() -> None:
    assert fitted(PAttribute("t", US), pa.array([1500], pa.timestamp("ms"))).cast(pa.int64()).to_pylist() == [1500000]
    zoned = fitted(PAttribute("t", ZONED), pa.array([7000], pa.timestamp("ns", tz="Europe/Oslo")))
    assert zoned.cast(pa.int64()).to_pylist() == [7]


def test_half_floats_and_what_is_run_end_encoded() -> None:
    half = fitted(PAttribute("x", pa.float32()), pa.array([1.5, None, float("nan")], pa.float16()))
    assert half.type == pa.float32()
    assert str(half.to_pylist()) == "[1.5, None, nan]"
    runs = pc.run_end_encode(pa.array([1, 1, None], pa.uint8()))
    assert fitted(PAttribute("x", pa.int16()), runs).to_pylist() == [1, 1, None]


def test_nanoseconds_that_are_no_microseconds_are_named_and_rows_counted_on() -> None:
    values = pa.array([1000, 1], pa.timestamp("ns"))
    with pytest.raises(
        PlanError, match=r"column t, row 11, holds '1970-01-01 00:00:00\.000000001': .*round the column"
    ):
        fitted(PAttribute("t", US), values, 10)


def test_chunks_and_dictionaries() -> None:
    chunks = pa.chunked_array([[1, 2], [], [3]], pa.int64())
    assert fitted(PAttribute("x", pa.int8()), chunks).to_pylist() == [1, 2, 3]
    encoded = pa.array([5, None, 5], pa.int64()).dictionary_encode()
    assert fitted(PAttribute("x", pa.int8()), encoded).to_pylist() == [5, None, 5]


def test_a_column_of_its_own_type_is_not_copied() -> None:
    values = pa.array(["a"], pa.large_string())
    assert fitted(PAttribute("x", pa.string()), values) is values


@pytest.mark.parametrize(
    ("values", "given", "wanted", "row", "said"),
    [
        ([1, None, 2**31, -(2**40)], pa.int64(), pa.int32(), 2, "2147483648: does not fit INT: declare it BIGINT"),
        ([1.0, 1.5], pa.float64(), pa.int32(), 1, "1.5: does not fit INT: declare it DOUBLE"),
        ([float("nan")], pa.float64(), pa.int64(), 0, "nan: does not fit BIGINT"),
        ([2**53 + 1], pa.int64(), pa.float64(), 0, "does not fit DOUBLE: declare it BIGINT"),
        ([1.0, 0.1], pa.float64(), pa.float32(), 1, "0.1: does not fit FLOAT: declare it DOUBLE"),
        ([1e300], pa.float64(), pa.float32(), 0, "does not fit FLOAT"),
        ([1000], pa.int64(), pa.decimal128(5, 2), 0, "1000: does not fit DECIMAL(5,2): declare it BIGINT"),
        ([2**63], pa.uint64(), pa.int64(), 0, "does not fit BIGINT: cast the column, or declare a wider type"),
    ],
)
def test_a_value_that_does_not_fit_is_named(
    values: list[Any], given: pa.DataType, wanted: pa.DataType, row: int, said: str
) -> None:
    with pytest.raises(PlanError) as caught:
        into(values, given, wanted)
    assert str(caught.value).startswith(f"column x, row {row}, holds")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (pa.string(), pa.int32()),
        (pa.bool_(), pa.int32()),
        (pa.int32(), pa.bool_()),
        (pa.int64(), ZONED),
        (US, ZONED),
        (ZONED, US),
        (pa.float64(), pa.decimal128(10, 2)),
        (pa.date32(), US),
    ],
)
def test_types_that_do_not_go_together_come_back_as_they_are(given: pa.DataType, wanted: pa.DataType) -> None:
    assert fitted(PAttribute("x", wanted), pa.nulls(2, given)).type == given
