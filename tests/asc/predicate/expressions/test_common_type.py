"""The type that values of several types have together."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.predicate.expressions.common_type import held_together, wider

INT, LONG, TEXT, DOUBLE, DAY = pa.int32(), pa.int64(), pa.string(), pa.float64(), pa.date32()


@pytest.mark.parametrize(
    ("kinds", "together"),
    [
        ([INT, pa.null()], INT),
        ([INT, LONG], LONG),
        ([INT, TEXT], TEXT),
        ([DAY, pa.timestamp("us"), TEXT], TEXT),
        ([INT, pa.decimal128(5, 2)], pa.decimal128(12, 2)),
        ([pa.decimal128(5, 2), LONG, pa.decimal128(10, 4)], pa.decimal128(24, 4)),
        ([pa.float32(), pa.decimal128(5, 2)], DOUBLE),
        ([INT, pa.decimal128(5, 2), pa.float32()], DOUBLE),
        ([pa.decimal128(38, 0), pa.decimal128(38, 10)], None),
        ([INT, None], None),
        ([pa.bool_(), TEXT], None),
        ([pa.binary(), TEXT], None),
        ([pa.bool_(), INT], None),
        ([pa.null()], None),
        ([pa.list_(INT), pa.list_(TEXT)], pa.list_(TEXT)),
        ([pa.list_(pa.null()), pa.list_(INT)], pa.list_(INT)),
        ([pa.list_(pa.list_(INT)), pa.list_(pa.list_(DOUBLE))], pa.list_(pa.list_(DOUBLE))),
        ([pa.list_(INT), pa.list_(pa.bool_())], None),
        ([pa.list_(INT), INT], None),
    ],
)
def test_together(kinds: list[pa.DataType | None], together: pa.DataType | None) -> None:
    assert wider(kinds) == together
    assert wider(kinds[::-1]) == together


def test_an_array_of_nothing_but_null() -> None:
    assert held_together([]) == held_together([pa.null()]) == pa.null()
    assert held_together([pa.null(), INT]) == INT
