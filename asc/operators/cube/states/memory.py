"""Conversion of states between Arrow arrays and NumPy arrays, without copying memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen
from asc.keys.buffers import null_mask

Mask = npt.NDArray[np.bool_]


def stored(data_type: pa.DataType, data: npt.NDArray[Any], has_value: Mask | None = None) -> pa.Array:
    """Return an Arrow array over a contiguous block of values of fixed width. ``has_value`` bool[cells]: an element
    without a value is NULL; None if every element has a value.

    The data of a NULL must be zero, so that equal states have equal bytes.
    """
    count = len(data)
    bitmap = None
    if has_value is not None and not has_value.all():
        bitmap = pa.py_buffer(np.packbits(has_value, bitorder="little"))
    return pa.Array.from_buffers(data_type, count, [bitmap, pa.py_buffer(data)])


def numbers(array: pa.Array, dtype: Any, width: int = 1) -> npt.NDArray[Any]:
    """Return the memory of an array of fixed-width values as NumPy numbers. ``width``: the number of NumPy numbers in
    each value. The numbers of a NULL are arbitrary.
    """
    buffer = array.buffers()[1]
    if buffer is None or not len(array):
        return frozen(np.zeros((0, width) if width > 1 else 0, dtype=dtype))
    flat = np.frombuffer(buffer, dtype=dtype)[array.offset * width : (array.offset + len(array)) * width]
    return frozen(flat.reshape(len(array), width) if width > 1 else flat)


def nulls_of(array: pa.Array) -> Mask:
    """Return bool[n], true for each NULL. The array is empty if no value is NULL."""
    found = null_mask(array)
    return frozen(np.zeros(0, dtype=np.bool_) if found is None else found)


def cut(array: pa.Array, bounds: Sequence[int]) -> Iterator[pa.Array]:
    """Yield the part of an array between each two successive bounds. Serialised as a stream of Arrow, a part has the
    same bytes as a separate array with these values.

    Cost: a part without NULL, of values with a fixed number of bytes, shares the memory of the array. Other parts are
    copied, because Arrow would write the values next to a slice as padding.
    """
    width = _width_bytes(array.type)
    data = array.buffers()[1] if width else None
    has_nulls = array.null_count > 0
    for start, stop in pairwise(bounds):
        if data is None or (has_nulls and array.slice(start, stop - start).null_count):
            yield array.take(pa.array(np.arange(start, stop)))
        else:
            own = data.slice((array.offset + start) * width, (stop - start) * width)
            yield pa.Array.from_buffers(array.type, stop - start, [None, own], 0)


def _width_bytes(data_type: pa.DataType) -> int:
    """Return the number of bytes of a value of a type. Return 0 if values have different sizes, or a value is not a
    whole number of bytes.
    """
    try:
        width, rest = divmod(data_type.bit_width, 8)
    except ValueError:
        return 0
    return 0 if rest else width
