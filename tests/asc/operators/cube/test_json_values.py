"""Values as JSON."""

from __future__ import annotations

import json
import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.json_values import instant_of, instant_text, plain_values


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([True, None]), [True, None]),
        (pa.array([2**63 - 1], pa.int64()), [2**63 - 1]),
        (pa.array([0.1, 1e300, math.nan, math.inf, -math.inf]), [0.1, 1e300, "NaN", "Infinity", "-Infinity"]),
        (pa.array([Decimal("0.0000001000")], pa.decimal128(38, 10)), ["0.0000001000"]),
        (pa.array(["日本", None]).dictionary_encode(), ["日本", None]),
        (pa.array([b"\xff\x00"]), ["/wA="]),
        (pa.array([date(2013, 7, 10)]), ["2013-07-10"]),
        (pa.array([3_000_000], pa.int32()).cast(pa.date32()), ["10183-09-21"]),
        (pa.array([datetime(2013, 7, 10, 1)], pa.timestamp("us")), ["2013-07-10T01:00:00"]),
        (pa.array([1], pa.int64()).cast(pa.timestamp("us", tz="UTC")), ["1970-01-01T00:00:00.000001Z"]),
    ],
    ids=lambda given: str(given.type) if isinstance(given, pa.Array) else "",
)
def test_values_are_what_json_has(array: pa.Array, expected: list[Any]) -> None:
    assert plain_values(array) == expected
    assert json.loads(json.dumps(plain_values(array))) == expected


def test_integer_sums_are_numbers_of_any_length() -> None:
    assert plain_values(pa.array([Decimal(10**37)], pa.decimal128(38, 0)), is_integer=True) == [10**37]


@pytest.mark.parametrize(
    "text", ["2013-07-10T00:00:00Z", "2013-07-10", "2013-07-10 00:00", "2013-07-09T19:00:00-05:00"]
)
def test_an_instant_is_read_in_its_zone_or_in_utc(text: str) -> None:
    assert instant_text(instant_of("from", text)) == "2013-07-10T00:00:00Z"


@pytest.mark.parametrize("text", ["", "yesterday", "2013-13-01", 7, None, "10000-01-01"])
def test_what_is_no_instant_is_refused(text: object) -> None:
    with pytest.raises(CubeError, match="is no time: write 2013-07-10"):
        instant_of("from", text)


def test_an_instant_finer_than_a_microsecond_is_refused() -> None:
    assert instant_of("from", "1970-01-01T00:00:00.0000010Z") == 1
    with pytest.raises(CubeError, match="is finer than a microsecond"):
        instant_of("from", "1970-01-01T00:00:00.0000001Z")


def test_structs_are_objects_and_lists_are_lists() -> None:
    item = pa.struct({"item": pa.binary(), "estimate": pa.float64()})
    rows = [[{"item": b"a", "estimate": math.nan}, None], [], None, [{"item": None, "estimate": 1.5}]]
    expected = [[{"item": "YQ==", "estimate": "NaN"}, None], [], None, [{"item": None, "estimate": 1.5}]]
    array = pa.array(rows, pa.list_(item))
    assert plain_values(array) == expected
    assert plain_values(array.slice(1, 3)) == expected[1:]
    assert plain_values(array.slice(0, 0)) == []
    nested = pa.array([{"own": {"x": 1}}, None, {"own": None}])
    assert plain_values(nested) == [{"own": {"x": 1}}, None, {"own": None}]
    assert plain_values(nested.slice(1)) == [None, {"own": None}]
