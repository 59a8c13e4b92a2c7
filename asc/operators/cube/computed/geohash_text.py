"""Texts of geohashes: a character of base 32 for each five bits. Remaining bits are binary digits after a point."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa

BITS_A_CHARACTER = 5
BITS_MAX = 60
"""The largest number of bits of a geohash: 30 of the longitude, and 30 of the latitude."""
_ALPHABET = "0123456789bcdefghjkmnpqrstuvwxyz"
"""The characters of geohashes. Their bytes ascend, so that texts sort as the numbers of their cells."""
_TEXT = re.compile(rf"([{_ALPHABET}]{{0,12}})(?:\.([01]{{1,4}}))?", re.ASCII)


def geohash_texts(cells: npt.NDArray[np.int64], bits: int) -> pa.Array:
    """Return the texts of cells, from their numbers of ``bits`` bits. All texts have the same length, and sort as the
    numbers.

    If ``bits`` is no multiple of 5, the remaining bits follow as binary digits after a point.

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


def numbers_of_texts(texts: pa.Array, bits: int) -> npt.NDArray[np.int64]:
    """Return the numbers of cells from the texts of :func:`geohash_texts` for ``bits`` bits, none of them NULL."""
    characters, rest = divmod(bits, BITS_A_CHARACTER)
    width = characters + (rest + 1 if rest else 0)
    _, offsets, data = texts.buffers()
    if not len(texts) or offsets is None or data is None:
        return np.zeros(0, dtype=np.int64)
    start = int(np.frombuffer(offsets, dtype=np.int32)[texts.offset])
    content = np.frombuffer(data, dtype=np.uint8)[start : start + width * len(texts)].reshape(len(texts), width)
    values = np.zeros(256, dtype=np.int64)
    values[np.frombuffer(_ALPHABET.encode(), dtype=np.uint8)] = np.arange(len(_ALPHABET))
    cells = np.zeros(len(texts), dtype=np.int64)
    for place in range(characters):
        cells = cells << BITS_A_CHARACTER | values[content[:, place]]
    for place in range(characters + 1, width):
        cells = cells << 1 | values[content[:, place]]
    return cells


def number_of_text(text: str) -> tuple[int, int] | None:
    """Return the number of a cell and its number of bits, from its text. Return None if the text is no geohash.

    >>> number_of_text("t.10"), number_of_text("T"), number_of_text("a")
    ((102, 7), (25, 5), None)
    """
    match = _TEXT.fullmatch(text.lower())
    if match is None:
        return None
    rest = match[2] or ""
    bits = BITS_A_CHARACTER * len(match[1]) + len(rest)
    if not 1 <= bits <= BITS_MAX:
        return None
    number = 0
    for character in match[1]:
        number = number << BITS_A_CHARACTER | _ALPHABET.index(character)
    return number << len(rest) | int(rest or "0", 2), bits
