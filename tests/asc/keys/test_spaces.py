"""Which types have a key space."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.keys.spaces import space_of


@pytest.mark.parametrize(
    ("data_type", "kind"),
    [
        (pa.bool_(), "Booleans"),
        (pa.int8(), "Integers"),
        (pa.int64(), "Integers"),
        (pa.date32(), "Dates"),
        (pa.timestamp("us"), "Timestamps"),
        (pa.timestamp("us", tz="Europe/Oslo"), "Timestamps"),
        (pa.float32(), "Floats"),
        (pa.float64(), "Floats"),
        (pa.decimal128(18, 3), "ShortDecimals"),
        (pa.decimal128(19, 3), "LongDecimals"),
        (pa.string(), "Strings"),
        (pa.binary(), "Binaries"),
    ],
)
def test_one_kind_a_type(data_type: pa.DataType, kind: str) -> None:
    space = space_of(data_type)
    assert type(space).__name__ == kind
    assert space is not None
    assert space.type == data_type
    assert space_of(data_type) is space


@pytest.mark.parametrize(
    "data_type",
    [
        pa.null(),
        pa.uint8(),
        pa.float16(),
        pa.date64(),
        pa.timestamp("ns"),
        pa.list_(pa.int32()),
        pa.map_(pa.string(), pa.int32()),
        pa.struct([("x", pa.int32())]),
    ],
    ids=str,
)
def test_others_have_none(data_type: pa.DataType) -> None:
    assert space_of(data_type) is None
