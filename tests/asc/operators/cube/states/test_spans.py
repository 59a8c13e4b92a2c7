"""Values as bytes: equal for equal values, and read back as the same values."""

from __future__ import annotations

import math
import struct
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from asc.frozen import frozen
from asc.operators.cube.states.spans import Spans

CASES: list[tuple[pa.DataType, list[Any]]] = [
    (pa.bool_(), [True, False]),
    (pa.int8(), [-128, 127, 0]),
    (pa.int16(), [-32_768, 32_767]),
    (pa.int32(), [-(2**31), 2**31 - 1]),
    (pa.int64(), [-(2**63), 2**63 - 1]),
    (pa.float32(), [1.5, -math.inf, 2.0**-149]),
    (pa.float64(), [1.5, math.inf, 5e-324]),
    (pa.decimal128(5, 2), [Decimal("-999.99"), Decimal("0.01")]),
    (pa.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(1 - 10**38)]),
    (pa.date32(), [date(1, 1, 1), date(9999, 12, 31)]),
    (
        pa.timestamp("us", tz="UTC"),
        [datetime(1, 1, 2, tzinfo=timezone.utc), datetime(9999, 12, 30, tzinfo=timezone.utc)],
    ),
    (pa.string(), ["", "é", "\U00010000", "x" * 5_000]),
    (pa.binary(), [b"", b"\0", b"\xff" * 100]),
]
each_type = pytest.mark.parametrize(("kind", "values"), CASES, ids=lambda case: str(case)[:20])


def spans_of(column: pa.Array) -> list[bytes]:
    spans = Spans.of(column)
    content = spans.data.tobytes()
    return [content[start:end] for start, end in zip(spans.offsets, spans.offsets[1:], strict=False)]


@each_type
def test_values_are_read_back_also_from_a_part_of_a_column(kind: pa.DataType, values: list[Any]) -> None:
    column = pa.array([values[-1], *values, values[0]], kind).slice(1, len(values))
    assert Spans.of(column).values(kind).equals(pa.array(values, kind))
    assert len(set(spans_of(column))) == len(values)


@each_type
def test_a_column_without_values_has_no_bytes(kind: pa.DataType, values: list[Any]) -> None:
    assert len(Spans.of(pa.array([], kind)).values(kind)) == 0
    assert len(spans_of(pa.array(values, kind).slice(0, 0))) == 0


def test_one_zero_and_one_nan() -> None:
    odd = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0001))[0]
    zero, other, nan, second = spans_of(pa.array([0.0, -0.0, math.nan, odd]))
    assert zero == other == bytes(8)
    assert nan == second
    assert spans_of(pa.array([-0.0, math.nan], pa.float32())) == [zero, nan]


def test_an_integer_has_the_same_bytes_in_every_width() -> None:
    widths = [spans_of(pa.array([-5], kind)) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())]
    assert all(own == [struct.pack("<q", -5)] for own in widths)


@pytest.mark.parametrize(
    ("kind", "content"),
    [(pa.string(), b"\xff"), (pa.int8(), struct.pack("<q", 128)), (pa.decimal128(2, 0), (100).to_bytes(16, "little"))],
)
def test_bytes_that_are_no_value_are_refused(kind: pa.DataType, content: bytes) -> None:
    spans = Spans(frozen(np.frombuffer(content, dtype=np.uint8).view()), frozen(np.array([0, len(content)])))
    with pytest.raises(pa.ArrowInvalid):
        spans.values(kind)
