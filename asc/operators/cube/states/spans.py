"""Conversion between values and byte strings. Two values of one type have equal byte strings if they are equal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.states.binary import content_of, offsets_of
from asc.operators.cube.states.memory import numbers

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """The byte strings of values. ``data`` uint8: the bytes of all values. ``offsets`` int64[n + 1]: the position of
    each value in ``data``.

    Texts have their UTF-8 bytes, and decimals the 16 bytes of their unscaled integer. Integers, booleans, dates and
    timestamps have the 8 bytes of an int64. Doubles have their 8 bytes. The lowest byte is first. -0.0 is stored as
    0.0, and every NaN as the same NaN. A NULL has arbitrary bytes.
    """

    data: npt.NDArray[np.uint8]
    offsets: _Ints

    @staticmethod
    def of(column: pa.Array) -> Spans:
        """Return the bytes of the values of a column."""
        width = width_of(column.type)
        if width:
            return Spans(_fixed(column), frozen(np.arange(0, width * len(column) + 1, width, dtype=np.int64)))
        return Spans(content_of(column), frozen(offsets_of(column).astype(np.int64)))

    def values(self, data_type: pa.DataType) -> pa.Array:
        """Return the byte strings as values of a type. Raise pyarrow.ArrowInvalid if a byte string is no value of the
        type.
        """
        types = pa.types
        if not width_of(data_type):
            content = pa.py_buffer(self.data)
            offsets = pa.py_buffer(self.offsets.astype(np.int32))
            column = pa.Array.from_buffers(data_type, len(self.offsets) - 1, [None, offsets, content])
        elif types.is_decimal(data_type):
            column = pa.Array.from_buffers(data_type, len(self.offsets) - 1, [None, pa.py_buffer(self.data)])
        elif types.is_floating(data_type):
            column = pa.array(self.data.view(np.float64)).cast(data_type)
        else:
            column = pa.array(self.data.view(np.int64))
            column = column.cast(pa.int32()) if types.is_date(data_type) else column
            column = column.cast(data_type)
        column.validate(full=True)
        return column


def width_of(data_type: pa.DataType) -> int:
    """Return the bytes of each value of a type, or 0 if values have different sizes.

    >>> width_of(pa.int8()), width_of(pa.decimal128(5, 2)), width_of(pa.string())
    (8, 16, 0)
    """
    if pa.types.is_string(data_type) or pa.types.is_binary(data_type):
        return 0
    return 16 if pa.types.is_decimal(data_type) else 8


def _fixed(column: pa.Array) -> npt.NDArray[np.uint8]:
    """Return the bytes of values of a fixed width."""
    kind, types = column.type, pa.types
    if types.is_decimal(kind):
        return numbers(column, np.uint8, 16).reshape(-1)
    if types.is_floating(kind):
        doubles = numbers(column, kind.to_pandas_dtype()).astype(np.float64) + 0.0
        doubles[np.isnan(doubles)] = np.nan
        return frozen(doubles.view(np.uint8))
    if types.is_date(kind):
        column = column.cast(pa.int32())
    return numbers(column.cast(pa.int64()), np.int64).view(np.uint8)
