"""Parts of a feed: its partitions, each of which has a separate state."""

from __future__ import annotations

PARTS = 16
"""The number of partitions of a feed. States are stored by partition, so the number never changes."""

_SEED = 42
_MASK = 0xFFFFFFFF


def part_of(track: str) -> int:
    """Return the number of the part that has all observations of a track: Spark's ``pmod(hash(track, NULL), 16)``.

    Spark's hash is the 32-bit MurmurHash3, except for the last bytes of a text that do not fill a word. These last
    bytes enter the hash one by one, as signed numbers. NULL leaves the hash unchanged.

    >>> part_of("5f1d0c6a9b21")
    10
    """
    content = track.encode()
    aligned = len(content) - len(content) % 4
    state = _SEED
    for low in range(0, aligned, 4):
        state = _mixed(state, int.from_bytes(content[low : low + 4], "little"))
    for byte in content[aligned:]:
        state = _mixed(state, byte - 256 if byte > 127 else byte)
    state ^= len(content)
    state = (state ^ state >> 16) * 0x85EBCA6B & _MASK
    state = (state ^ state >> 13) * 0xC2B2AE35 & _MASK
    return (state ^ state >> 16) % PARTS


def _mixed(state: int, word: int) -> int:
    word = _rotated(word * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    return (_rotated(state ^ word, 13) * 5 + 0xE6546B64) & _MASK


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _MASK
