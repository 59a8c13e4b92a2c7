"""Compiled loops that hash values into the coupons of a HyperLogLog sketch.

A coupon has 32 bits. The hash of the value has two halves of 64 bits. The low 26 bits of the coupon are the low bits of
the first half. The high 6 bits are one more than the number of leading zeros of the second half, at most 63. The hash
is MurmurHash3 of 128 bits with the seed 9001. So Apache DataSketches computes the same coupon for the same bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from asc.compiled import compiled, inlined

Array = Any

SLOT_BITS = 26
"""The number of low bits of a coupon that choose a register."""

_SEED = np.uint64(9001)
_FACTOR_1, _FACTOR_2 = np.uint64(0x87C3_7B91_1142_53D5), np.uint64(0x4CF5_AD43_2745_937F)
_STEP_1, _STEP_2, _FIVE = np.uint64(0x52DC_E729), np.uint64(0x3849_5AB5), np.uint64(5)
_FINAL_1, _FINAL_2 = np.uint64(0xFF51_AFD7_ED55_8CCD), np.uint64(0xC4CE_B9FE_1A85_EC53)
_SLOTS = np.uint64(2**SLOT_BITS - 1)
_TOP = np.uint64(2**63)
_ONE, _EIGHT, _WORD_BITS, _MIX_SHIFT = np.uint64(1), np.uint64(8), np.uint64(64), np.uint64(33)
_ZEROS_MOST = 62


@inlined
def _turned(word: Any, bits: int) -> Any:
    """Rotate a word of 64 bits to the left."""
    return (word << np.uint64(bits)) | (word >> (_WORD_BITS - np.uint64(bits)))


@inlined
def _mixed(word: Any) -> Any:
    """Mix all bits of a word into each other."""
    word = (word ^ (word >> _MIX_SHIFT)) * _FINAL_1
    word = (word ^ (word >> _MIX_SHIFT)) * _FINAL_2
    return word ^ (word >> _MIX_SHIFT)


@inlined
def _first(word: Any) -> Any:
    return _turned(word * _FACTOR_1, 31) * _FACTOR_2


@inlined
def _second(word: Any) -> Any:
    return _turned(word * _FACTOR_2, 33) * _FACTOR_1


@inlined
def _with_block(half: Any, other: Any, low: Any, high: Any) -> Any:
    """Return both halves of a hash after 16 more bytes of the value. ``low`` and ``high``: these bytes as two words."""
    half = (_turned(half ^ _first(low), 27) + other) * _FIVE + _STEP_1
    other = (_turned(other ^ _second(high), 31) + half) * _FIVE + _STEP_2
    return half, other


@inlined
def _coupon(half: Any, other: Any, length: int) -> Any:
    """Return the coupon of a value. ``half``, ``other``: both halves of the hash before its last step. ``length``: the
    number of bytes of the value.
    """
    half = half ^ np.uint64(length)
    other = other ^ np.uint64(length)
    half += other
    other += half
    half, other = _mixed(half), _mixed(other)
    half += other
    other += half
    zeros = 0
    while zeros < _ZEROS_MOST and not other & _TOP:
        other <<= _ONE
        zeros += 1
    return np.uint32((np.uint64(zeros + 1) << np.uint64(SLOT_BITS)) | (half & _SLOTS))


@inlined
def _word(content: Array, place: int, count: int) -> Any:
    """Return up to eight bytes as a word, the first byte lowest."""
    word = np.uint64(0)
    for i in range(count - 1, -1, -1):
        word = (word << _EIGHT) | np.uint64(content[place + i])
    return word


@compiled
def coupons_of_words(words: Array, coupons: Array) -> None:
    """Write the coupon of each value that is one word of 64 bits. ``words`` uint64[n]."""
    for i in range(words.size):
        coupons[i] = _coupon(_SEED ^ _first(words[i]), _SEED, 8)


@compiled
def coupons_of_pairs(words: Array, coupons: Array) -> None:
    """Write the coupon of each value that is two words of 64 bits, the lower one first. ``words`` uint64[n, 2]."""
    for i in range(words.shape[0]):
        half, other = _with_block(_SEED, _SEED, words[i, 0], words[i, 1])
        coupons[i] = _coupon(half, other, 16)


@compiled
def coupons_of_bytes(content: Array, offsets: Array, coupons: Array) -> None:
    """Write the coupon of each value of any size. ``content`` uint8: the bytes of all values. ``offsets`` int32[n + 1]:
    the place of each value in ``content``.
    """
    for i in range(coupons.size):
        place, stop = offsets[i], offsets[i + 1]
        length = stop - place
        half, other = _SEED, _SEED
        while stop - place >= 16:
            half, other = _with_block(half, other, _word(content, place, 8), _word(content, place + 8, 8))
            place += 16
        rest = stop - place
        if rest > 8:
            other ^= _second(_word(content, place + 8, rest - 8))
        if rest > 0:
            half ^= _first(_word(content, place, min(rest, 8)))
        coupons[i] = _coupon(half, other, length)
