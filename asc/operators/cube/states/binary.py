"""Arrow arrays of BINARY that contain states of variable size, and their memory as kernels read and write it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.states.stored import Stored

_STATE_BYTES_MAX = 2**31 - 1
"""The largest number of bytes of one Arrow array of states: its offsets are int32."""


def content_of(array: pa.Array) -> npt.NDArray[np.uint8]:
    """Return the bytes of all values of an array of texts or BINARY, without copying."""
    content = array.buffers()[2]
    if content is None or not content.size:
        return frozen(np.zeros(0, dtype=np.uint8))
    return frozen(np.frombuffer(content, dtype=np.uint8).view())


def offsets_of(array: pa.Array) -> npt.NDArray[np.int32]:
    """Return int32[n + 1]: the position at which each text or BINARY value begins in :func:`content_of`, and the end of
    the last one.
    """
    offsets = array.buffers()[1]
    if offsets is None or not len(array):
        return frozen(np.zeros(len(array) + 1, dtype=np.int32))
    return frozen(np.frombuffer(offsets, dtype=np.int32)[array.offset : array.offset + len(array) + 1].view())


def stored_of(states: pa.Array) -> Stored:
    """Return states of BINARY in the form that kernels read."""
    return Stored(content_of(states), offsets_of(states))


def check_total(total: int, subject: str) -> None:
    """Raise CubeError if the states have more than _STATE_BYTES_MAX bytes together, because one Arrow array cannot
    store them.
    """
    if total > _STATE_BYTES_MAX:
        raise CubeError(subject, total, f"group by fewer values: at most {_STATE_BYTES_MAX:,}")


def binaries(sizes: npt.NDArray[np.int64], subject: str) -> tuple[pa.Array, Stored]:
    """Return an array of BINARY values, and its memory, into which the caller writes the values. ``sizes`` int64[n]:
    the number of bytes of each value; a value without bytes is NULL. ``subject``: the subject of the error if there are
    too many bytes.
    """
    total = int(sizes.sum())
    check_total(total, subject)
    offsets = np.zeros(len(sizes) + 1, dtype=np.int32)
    np.cumsum(sizes, out=offsets[1:])
    content = np.empty(total, dtype=np.uint8)
    return binary_array(content, offsets), Stored(content, offsets)


def binary_array(content: npt.NDArray[Any], offsets: npt.NDArray[np.int32]) -> pa.Array:
    """Return an array of BINARY over memory, without copying it. A value without bytes is NULL.

    ``content``: the bytes of all values, as numbers of any size. ``offsets`` int32[n + 1]: the byte at which each value
    begins, and the end of the last one.
    """
    has_value = np.diff(offsets) > 0
    bitmap = None if has_value.all() else pa.py_buffer(np.packbits(has_value, bitorder="little"))
    return pa.Array.from_buffers(pa.binary(), len(has_value), [bitmap, pa.py_buffer(offsets), pa.py_buffer(content)])
