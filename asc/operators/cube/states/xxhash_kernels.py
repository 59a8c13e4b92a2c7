"""The compiled hash of values: XXH64 with the seed 42, as Spark's ``xxhash64``, over bytes.

Source: the specification of XXH64 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md). The hash is equal in every process
and on every machine. Cost: about 10 ns for each value and 1 ns for each 8 bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from asc.compiled import compiled, inlined

Array = Any

_PRIME_1, _PRIME_2 = np.uint64(0x9E37_79B1_85EB_CA87), np.uint64(0xC2B2_AE3D_27D4_EB4F)
_PRIME_3, _PRIME_4 = np.uint64(0x1656_67B1_9E37_79F9), np.uint64(0x85EB_CA77_C2B2_AE63)
_PRIME_5 = np.uint64(0x27D4_EB2F_1656_67C5)
_SEED = np.uint64(42)
_BYTE = np.uint64(8)


@inlined
def _rotated(word: Any, bits: Any) -> Any:
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@inlined
def _read(data: Array, at: Any, size: Any) -> Any:
    """Return ``size`` bytes as an integer, lowest byte first."""
    word = np.uint64(0)
    for place in range(size):
        word |= np.uint64(data[at + place]) << (np.uint64(place) * _BYTE)
    return word


@inlined
def _round(lane: Any, word: Any) -> Any:
    return _rotated(lane + word * _PRIME_2, 31) * _PRIME_1


@inlined
def _joined(mixed: Any, lane: Any) -> Any:
    return (mixed ^ _round(np.uint64(0), lane)) * _PRIME_1 + _PRIME_4


@inlined
def _finished(mixed: Any) -> Any:
    mixed = (mixed ^ (mixed >> np.uint64(33))) * _PRIME_2
    mixed = (mixed ^ (mixed >> np.uint64(29))) * _PRIME_3
    return mixed ^ (mixed >> np.uint64(32))


@compiled
def hash_spans(data: Array, offsets: Array, hashes: Array) -> None:
    """Write the hash of each byte string ``data[offsets[i]:offsets[i + 1]]``.

    ``data`` uint8, ``offsets`` int64[n + 1], ``hashes`` uint64[n].
    """
    for i in range(hashes.size):
        at, end = offsets[i], offsets[i + 1]
        size = end - at
        if size >= 32:
            first, second = _SEED + _PRIME_1 + _PRIME_2, _SEED + _PRIME_2
            third, fourth = _SEED, _SEED - _PRIME_1
            while end - at >= 32:
                first = _round(first, _read(data, at, 8))
                second = _round(second, _read(data, at + 8, 8))
                third = _round(third, _read(data, at + 16, 8))
                fourth = _round(fourth, _read(data, at + 24, 8))
                at += 32
            mixed = _rotated(first, 1) + _rotated(second, 7) + _rotated(third, 12) + _rotated(fourth, 18)
            mixed = _joined(_joined(_joined(_joined(mixed, first), second), third), fourth)
        else:
            mixed = _SEED + _PRIME_5
        mixed += np.uint64(size)
        while end - at >= 8:
            mixed = _rotated(mixed ^ _round(np.uint64(0), _read(data, at, 8)), 27) * _PRIME_1 + _PRIME_4
            at += 8
        if end - at >= 4:
            mixed = _rotated(mixed ^ (_read(data, at, 4) * _PRIME_1), 23) * _PRIME_2 + _PRIME_3
            at += 4
        while at < end:
            mixed = _rotated(mixed ^ (np.uint64(data[at]) * _PRIME_5), 11) * _PRIME_1
            at += 1
        hashes[i] = _finished(mixed)
