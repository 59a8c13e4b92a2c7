"""The buffers of Arrow arrays as NumPy arrays over the same memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen

Mask = npt.NDArray[np.bool_]


def null_mask(values: pa.Array) -> Mask | None:
    """Return a mask bool[n] that is true where a value is NULL. Return None if no value is NULL.

    >>> null_mask(pa.array([1, None, 3]))
    array([False,  True, False])
    """
    if values.null_count == 0:
        return None
    return ~bits(values.buffers()[0], values.offset, len(values))


def fixed_width(values: pa.Array, dtype: Any) -> npt.NDArray[Any]:
    """Return the values of an Arrow array of a type with a fixed width, as a read-only NumPy array. The value of a NULL
    is arbitrary.

    Kernels are compiled for read-only arrays. Buffers received by IPC are read-only, but buffers made in Python are
    not.
    """
    return frozen(np.frombuffer(values.buffers()[1], dtype=dtype)[values.offset : values.offset + len(values)])


def bits(buffer: pa.Buffer, offset: int, length: int) -> Mask:
    """Return the bits ``offset`` to ``offset + length`` of a buffer of packed bits, as one byte for each bit."""
    first = offset >> 3
    packed = np.frombuffer(buffer, dtype=np.uint8)[first : (offset + length + 7) >> 3]
    return np.unpackbits(packed, bitorder="little", count=offset - first * 8 + length)[offset - first * 8 :].view(
        np.bool_
    )
