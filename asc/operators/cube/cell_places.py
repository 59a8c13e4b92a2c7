"""Places of cells: a hash of each cell's key, whose leading bits determine the cell's shard."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.cells import Cells
from asc.operators.cube.kernels import hash_bytes, mix_codes

Places = npt.NDArray[np.uint64]

_OF_NULL = np.uint64(0x9E37_79B9_7F4A_7C15)
"""The hash of NULL: the fractional part of the golden ratio."""


def places_of(cells: Cells) -> Places:
    """Return the place of each cell, uint64[n]: a hash of the bytes of the cell's key, without the pane.

    The hash is equal in every process, and on every machine with the byte order of Arrow. Cost: a pass over the bytes
    of the dictionaries, and a pass over the cells for each expression.
    """
    places = np.zeros(cells.count, dtype=np.uint64)
    for key in cells.keys:
        mix_codes(places, frozen(key.codes.view()), _hashes(key.dictionary))
    return frozen(places)


def _hashes(dictionary: pa.Array) -> Places:
    """Return the hash of each code of a key: first the hash of NULL, then the hashes of the values in the
    dictionary.
    """
    hashes = np.empty(len(dictionary) + 1, dtype=np.uint64)
    hashes[0] = _OF_NULL
    hash_bytes(*_bytes_of(dictionary), hashes[1:])
    return frozen(hashes)


def _bytes_of(values: pa.Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Return the offsets and the bytes of values without NULL. The bytes of a value of fixed width are its bytes in
    Arrow.
    """
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    count, first = len(values), values.offset
    if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
        _, offsets, data = values.buffers()
        ends = np.frombuffer(offsets, dtype=np.int32)[first : first + count + 1] if count else np.zeros(1, np.int32)
    else:
        data = values.buffers()[1]
        width = values.type.bit_width // 8
        ends = np.arange(first * width, (first + count + 1) * width, width, dtype=np.int32)[: count + 1]
    content = np.frombuffer(b"" if data is None else data, dtype=np.uint8)
    return frozen(ends.view()), frozen(content)
