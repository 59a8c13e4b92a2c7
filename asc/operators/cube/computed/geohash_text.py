"""Texts of geohashes: characters of base 32 for each five bits, and further bits after a point."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

BITS_A_CHARACTER = 5
_ALPHABET = "0123456789bcdefghjkmnpqrstuvwxyz"
"""The characters of geohashes. Their bytes are in ascending order."""


def geohash_texts(cells: npt.NDArray[np.int64], bits: int) -> pa.Array:
    """Return the texts of cells of some bits. All texts have the same length, and the order of the cells.

    If the bits are no multiple of 5, the rest follows in binary digits after a point.

    >>> geohash_texts(np.array([25], dtype=np.int64), 5).to_pylist()
    ['t']
    >>> geohash_texts(np.array([102], dtype=np.int64), 7).to_pylist()
    ['t.10']
    """
    characters, rest = divmod(bits, BITS_A_CHARACTER)
    width = characters + (rest + 1 if rest else 0)
    alphabet = np.frombuffer(_ALPHABET.encode(), dtype=np.uint8)
    content = np.empty((len(cells), width), dtype=np.uint8)
    for place in range(characters):
        shift = bits - BITS_A_CHARACTER * (place + 1)
        content[:, place] = alphabet[cells >> shift & 31]
    if rest:
        content[:, characters] = ord(".")
    for place in range(rest):
        content[:, characters + 1 + place] = ord("0") + (cells >> (rest - 1 - place) & 1)
    offsets = np.arange(0, width * len(cells) + 1, width, dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(cells), [None, pa.py_buffer(offsets), pa.py_buffer(content)])
