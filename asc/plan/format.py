"""The byte form of a plan's arrays: a short header and the arrays, aligned so that they are read without a copy.

    magic (8 bytes), CRC-32 of all that follows it (4 bytes, little-endian), length of the header (4 bytes), header
    (JSON), then each array on a multiple of 64 bytes

The header has the values in the argument ``says`` of :func:`to_bytes` and, for every array, its type, shape and offset.
The checksum finds damage, not malice. Strings are Arrow IPC messages among the arrays. Nothing is pickled, so reading
bytes from elsewhere runs no code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import PlanError

_MAGIC = b"ASCPLN10"
_ALIGNMENT = 64
_DTYPES = frozenset(("|b1", "|u1", "<u2", "<i4", "<i8", "<u8", "<f8"))

DAMAGE = (LookupError, ValueError, TypeError, AttributeError, StopIteration, OSError, MemoryError, pa.ArrowException)
"""The exceptions that decoding a part of a plan may raise, although the checksum is right, if another version wrote the
bytes.
"""

Arrays = Mapping[str, npt.NDArray[Any]]


def to_bytes(says: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Return a header and arrays as bytes, in the byte form that the module describes. ``says``: the values of the
    header.
    """
    places, offset = {}, 0
    for name, array in arrays.items():
        places[name] = [array.dtype.str, list(array.shape), offset]
        offset += array.nbytes + -array.nbytes % _ALIGNMENT
    text = json.dumps({**says, "arrays": places}, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 16) % _ALIGNMENT)
    parts = [len(text).to_bytes(4, "little"), text]
    for array in arrays.values():
        parts += (array.tobytes(), b"\0" * (-array.nbytes % _ALIGNMENT))
    checksum = 0
    for part in parts:
        checksum = crc32(part, checksum)
    return b"".join((_MAGIC, checksum.to_bytes(4, "little"), *parts))


def from_bytes(buffer: bytes | memoryview, *, is_checked: bool = False) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays that :func:`to_bytes` wrote, as views of ``buffer``. Raise PlanError for other
    bytes.

    ``is_checked``: the caller has already verified the checksum.
    """
    try:
        view = memoryview(buffer).cast("B")
    except TypeError as error:
        raise PlanError("plan", type(buffer).__name__, f"expected contiguous bytes ({error})") from None
    if bytes(view[:8]) != _MAGIC:
        raise PlanError("plan", bytes(view[:8]), f"expected bytes that begin with {_MAGIC!r}")
    if len(view) < 16 or not (is_checked or crc32(view[12:]) == int.from_bytes(view[8:12], "little")):
        raise PlanError("plan", f"{len(view)} bytes", "they are cut short or damaged")
    try:
        start = 16 + int.from_bytes(view[12:16], "little")
        says = json.loads(bytes(view[16:start]))
        return says, {name: _view(view, start, *place) for name, place in says.pop("arrays").items()}
    except DAMAGE as error:
        raise PlanError("plan", f"{len(view)} bytes", f"another version wrote them ({error})") from error


def message(strings: pa.StringArray) -> npt.NDArray[np.uint8]:
    """Return strings as an array of bytes. Equal strings give equal bytes."""
    sink = pa.BufferOutputStream()
    # A slice has offsets even if it is empty; a new empty array does not.
    batch = pa.record_batch([strings if len(strings) else pa.array([], pa.string())], names=["strings"])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return np.frombuffer(sink.getvalue(), dtype=np.uint8)


def strings_of(content: npt.NDArray[np.uint8]) -> pa.StringArray:
    """Return the strings that :func:`message` encoded, as a view of ``content``."""
    with pa.ipc.open_stream(pa.py_buffer(content)) as reader:
        return reader.read_next_batch().column(0)


def _view(view: memoryview, start: int, dtype: str, shape: list[int], offset: int) -> npt.NDArray[Any]:
    if dtype not in _DTYPES:
        # NumPy would parse any text as a type by its own grammar, and raise exceptions of many types.
        raise ValueError(f"array of {dtype!r}")
    count = int(np.prod(shape, dtype=np.int64))
    array = np.frombuffer(view, dtype=dtype, count=count, offset=start + offset).reshape(shape)
    if not array.flags.aligned:
        array = array.copy()
    array.setflags(write=False)
    return array
