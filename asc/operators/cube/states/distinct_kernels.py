# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Compiled loops that fold, merge, check and write HyperLogLog sketches.

A stored sketch has the compact form HLL_4 of Apache DataSketches. A set of coupons has exactly one stored form.

Up to three quarters of 2**(lg_k - 3) coupons are stored as integers, ascending: fewer than 8 in the form LIST, others
in the form SET. With more coupons, a sketch has 2**lg_k registers of four bits. A register contains the largest value
of its coupons, minus the least value of all registers. If this difference is 15 or more, the register contains 15, and
its coupon follows in a list of exceptions, ascending by register. The flag "out of order" makes the library estimate
from the registers alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from asc.compiled import compiled, inlined
from asc.operators.cube.states.hash_kernels import SLOT_BITS
from asc.operators.cube.states.stored import Stored

Array = Any

SOUND, DAMAGED, OTHER = 0, 1, 2
"""The results of :func:`check`: all sketches are sound; one is damaged; one has another ``lg_k``."""

LIST_BYTES, SET_BYTES, DENSE_BYTES = 8, 12, 40
"""The number of bytes before the coupons of the forms LIST and SET, and before the registers of a dense sketch."""
_LIST_WORDS, _SET_WORDS, _DENSE_WORDS = 2, 3, 10
_VERSION, _FAMILY = 1, 7
_LIST, _SET, _DENSE = 0, 1, 2
_COMPACT, _OUT_OF_ORDER = 8, 16
_LIST_BITS, _SET_BITS = 3, 5
_LIST_END = 1 << _LIST_BITS
_EXCEPTION = 15
_VALUE_MOST = 63
_LOW = 2**SLOT_BITS - 1
_FINE = 32
"""The least value of a register that the library counts in the second of its two sums of 2**-value."""


class Collected(NamedTuple):
    """The coupons or registers of cells.

    ``counts`` int64[cells]: the number of coupons, -1 for a cell with registers. ``starts`` int64[cells]: the index of
    the cell's first coupon in ``coupons``. ``coupons`` uint32. ``dense`` int64[cells]: the row of ``registers`` that a
    cell may use, -1 if it has too few coupons to need registers. ``registers`` uint8[n, 2**lg_k].
    """

    counts: Array
    starts: Array
    coupons: Array
    dense: Array
    registers: Array


class Work(NamedTuple):
    """Working memory for one cell. ``table`` uint32: a hash table of coupons, initially zeros; its number of slots is a
    power of two. ``used`` int64: the slots in use. ``written`` uint8: the head of a sketch, which :func:`check`
    compares. ``counts`` int64[64]: the number of registers with each value. ``pairs`` int64[256]: the number of bytes
    with each value; a byte has two registers. ``sums`` float64[2] and ``sum_bytes`` uint8[16]: the same memory.
    """

    table: Array
    used: Array
    written: Array
    counts: Array
    pairs: Array
    sums: Array
    sum_bytes: Array


@inlined
def _coupon_bound(lg_k: int) -> Any:
    """Return the largest number of coupons of a sketch without registers."""
    return 3 << (lg_k - 5)


@inlined
def _integer(content: Array, place: int) -> Any:
    """Return four bytes as an unsigned integer, the lowest byte first."""
    low = np.int64(content[place]) | (np.int64(content[place + 1]) << 8)
    return low | (np.int64(content[place + 2]) << 16) | (np.int64(content[place + 3]) << 24)


@inlined
def _write_integer(content: Array, place: int, number: int) -> None:
    for i in range(4):
        content[place + i] = (number >> (8 * i)) & 0xFF


@inlined
def _raise_register(registers: Array, coupon: int) -> None:
    """Raise the register of a coupon to the value of the coupon, if the register is less."""
    slot, value = (coupon & _LOW) & (registers.size - 1), coupon >> SLOT_BITS
    registers[slot] = max(registers[slot], value)


@inlined
def _insert(work: Work, count: int, coupon: int) -> Any:
    """Insert a coupon into the hash table, and return the number of coupons in it. ``count``: the number before the
    call.
    """
    mask = work.table.size - 1
    # The low bits of a coupon come from a hash and are evenly distributed; the bits of its value are not.
    place = coupon & mask
    while work.table[place] != 0:
        if work.table[place] == coupon:
            return count
        place = (place + 1) & mask
    work.table[place] = coupon
    work.used[count] = place
    return count + 1


@inlined
def _to_registers(work: Work, count: int, registers: Array) -> None:
    """Move the coupons of the hash table to registers. Empty the table."""
    for i in range(count):
        _raise_register(registers, np.int64(work.table[work.used[i]]))
        work.table[work.used[i]] = 0


@inlined
def _added(work: Work, count: int, coupon: int, bound: int, registers: Array) -> Any:
    """Add a coupon to a cell, and return the cell's number of coupons, or -1 if the cell now has registers."""
    if count < 0:
        _raise_register(registers, coupon)
        return count
    count = _insert(work, count, coupon)
    if count <= bound:
        return count
    _to_registers(work, count, registers)
    return -1


@inlined
def _sort(coupons: Array, start: int, count: int) -> None:
    """Sort some coupons ascending, in place: a Shell sort with Knuth's gaps, because numba's own sort allocates."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(start + gap, start + count):
            coupon, place = coupons[i], i
            while place - gap >= start and coupons[place - gap] > coupon:
                coupons[place] = coupons[place - gap]
                place -= gap
            coupons[place] = coupon
        gap //= 3


@inlined
def _finish(work: Work, count: int, cell: int, collected: Collected) -> None:
    """Write the coupons of the hash table to the cell, ascending. Empty the table."""
    collected.counts[cell] = count
    if count <= 0:
        return
    start = collected.starts[cell]
    for i in range(count):
        collected.coupons[start + i] = work.table[work.used[i]]
        work.table[work.used[i]] = 0
    _sort(collected.coupons, start, count)


@compiled
def collect_values(coupons: Array, bounds: Array, lg_k: int, work: Work, collected: Collected) -> None:
    """Collect the coupons or registers of each cell from the coupons of its values. ``bounds`` int64[cells + 1]: the
    coupons of cell c are ``coupons[bounds[c]:bounds[c + 1]]``.
    """
    bound = _coupon_bound(lg_k)
    for cell in range(bounds.size - 1):
        count = 0
        registers = collected.registers[max(collected.dense[cell], 0)]
        for i in range(bounds[cell], bounds[cell + 1]):
            count = _added(work, count, np.int64(coupons[i]), bound, registers)
        _finish(work, count, cell, collected)


@compiled
def plan_merge(stored: Stored, order: Array, bounds: Array, lg_k: int, starts: Array, dense: Array) -> Any:
    """Plan the memory for a merge of sketches. Write the index of each cell's first coupon to ``starts``. Write the row
    of its registers to ``dense``, -1 if it has too few coupons to need registers. Return the number of coupons and the
    number of rows.

    ``order``: the indices of the sketches, sorted by cell. ``bounds`` int64[cells + 1]: the sketches of cell c are
    ``order[bounds[c]:bounds[c + 1]]``.
    """
    bound = _coupon_bound(lg_k)
    total, rows = 0, 0
    for cell in range(bounds.size - 1):
        count = 0
        for i in range(bounds[cell], bounds[cell + 1]):
            place, stop = stored.offsets[order[i]], stored.offsets[order[i] + 1]
            if stop > place:
                words = stored.content[place]
                count += bound + 1 if words == _DENSE_WORDS else (stop - place - 4 * words) >> 2
        starts[cell] = total
        dense[cell] = rows if count > bound else -1
        total += min(count, bound)
        rows += count > bound
    return total, rows


@compiled
def collect_sketches(stored: Stored, order: Array, bounds: Array, lg_k: int, work: Work, collected: Collected) -> None:
    """Collect the coupons or registers of each cell from its sketches, which :func:`check` found sound."""
    bound = _coupon_bound(lg_k)
    for cell in range(bounds.size - 1):
        count = 0
        registers = collected.registers[max(collected.dense[cell], 0)]
        for i in range(bounds[cell], bounds[cell + 1]):
            place, stop = stored.offsets[order[i]], stored.offsets[order[i] + 1]
            if stop == place:
                continue
            if stored.content[place] != _DENSE_WORDS:
                for at in range(place + 4 * stored.content[place], stop, 4):
                    count = _added(work, count, _integer(stored.content, at), bound, registers)
                continue
            if count >= 0:
                _to_registers(work, count, registers)
                count = -1
            _read_registers(stored.content, place, stop, registers)
        _finish(work, count, cell, collected)


@inlined
def _read_registers(content: Array, place: int, stop: int, registers: Array) -> None:
    """Raise each register to the value of the same register of a sound sketch, if it is less."""
    least, half = content[place + 6], registers.size // 2
    start = place + DENSE_BYTES
    for i in range(half):
        digits = content[start + i]
        low, high = digits & 15, digits >> 4
        # A register with 15 has its value in the list of exceptions, which is read below.
        registers[2 * i] = max(registers[2 * i], least + (low if low < _EXCEPTION else 0))
        registers[2 * i + 1] = max(registers[2 * i + 1], least + (high if high < _EXCEPTION else 0))
    for at in range(start + half, stop, 4):
        _raise_register(registers, _integer(content, at))


@inlined
def _count_values(registers: Array, counts: Array) -> Any:
    """Write the number of registers with each value to ``counts`` int64[64]. Return the least of these values."""
    for value in range(counts.size):
        counts[value] = 0
    for slot in range(registers.size):
        counts[registers[slot]] += 1
    least = 0
    while counts[least] == 0:
        least += 1
    return least


@inlined
def _exceptions(counts: Array, least: int) -> Any:
    """Return the number of registers that are exceptions: their values exceed the least value by 15 or more."""
    total = 0
    for value in range(least + _EXCEPTION, counts.size):
        total += counts[value]
    return total


@inlined
def _table_bits(count: int, least: int) -> Any:
    """Return the binary logarithm of the size of the library's hash table for ``count`` coupons or exceptions.
    ``least``: the least logarithm. The head of a stored sketch contains it.
    """
    bits = 0
    while (1 << bits) < count:
        bits += 1
    if 4 * count > 3 << bits:
        bits += 1
    return max(bits, least)


@inlined
def _exception_bits(lg_k: int) -> Any:
    """Return the least logarithm of the size of the library's hash table of exceptions, for ``lg_k`` from 8 to 21."""
    return lg_k - 8 if lg_k >= 14 else lg_k // 2 - 1


@compiled
def measure(lg_k: int, collected: Collected, work: Work, sizes: Array) -> None:
    """Write the number of bytes of each cell's stored sketch to ``sizes``."""
    for cell in range(sizes.size):
        count = collected.counts[cell]
        if count >= 0:
            header = 0 if count == 0 else LIST_BYTES if count < _LIST_END else SET_BYTES
            sizes[cell] = header + 4 * count
            continue
        least = _count_values(collected.registers[collected.dense[cell]], work.counts)
        sizes[cell] = DENSE_BYTES + (1 << lg_k) // 2 + 4 * _exceptions(work.counts, least)


@inlined
def _write_head(
    content: Array, place: int, words: int, lg_k: int, bits: int, flags: int, number: int, mode: int
) -> None:
    content[place] = words
    content[place + 1] = _VERSION
    content[place + 2] = _FAMILY
    content[place + 3] = lg_k
    content[place + 4] = bits
    content[place + 5] = flags
    content[place + 6] = number
    content[place + 7] = mode


@inlined
def _write_dense_head(least: int, count: int, lg_k: int, work: Work, content: Array, place: int) -> None:
    """Write the 40 bytes before the registers of a dense sketch. ``work.counts``: the number of registers with each
    value. ``count``: the number of exceptions.
    """
    bits = _table_bits(count, _exception_bits(lg_k)) if count else 0
    _write_head(content, place, _DENSE_WORDS, lg_k, bits, _COMPACT | _OUT_OF_ORDER, least, _DENSE)
    work.sums[0], work.sums[1] = 0.0, 0.0
    for value in range(least, work.counts.size):
        work.sums[1 if value >= _FINE else 0] += work.counts[value] * 0.5**value
    for i in range(8):
        content[place + 8 + i] = 0
    for i in range(16):
        content[place + 16 + i] = work.sum_bytes[i]
    _write_integer(content, place + 32, work.counts[least])
    _write_integer(content, place + 36, count)


@inlined
def _write_registers(registers: Array, lg_k: int, work: Work, content: Array, place: int) -> None:
    """Write a sketch with registers."""
    least = _count_values(registers, work.counts)
    count = _exceptions(work.counts, least)
    _write_dense_head(least, count, lg_k, work, content, place)
    half = registers.size // 2
    start = place + DENSE_BYTES
    for i in range(half):
        low, high = registers[2 * i] - least, registers[2 * i + 1] - least
        content[start + i] = min(low, _EXCEPTION) | (min(high, _EXCEPTION) << 4)
    at = start + half
    if count:
        for slot in range(registers.size):
            if registers[slot] - least >= _EXCEPTION:
                _write_integer(content, at, (np.int64(registers[slot]) << SLOT_BITS) | slot)
                at += 4


@compiled
def write_sketches(lg_k: int, collected: Collected, work: Work, stored: Stored) -> None:
    """Write the sketch of each cell to ``stored.content``, at the cell's offset."""
    content = stored.content
    for cell in range(collected.counts.size):
        place, count = stored.offsets[cell], collected.counts[cell]
        if count < 0:
            _write_registers(collected.registers[collected.dense[cell]], lg_k, work, content, place)
            continue
        if count == 0:
            continue
        if count < _LIST_END:
            _write_head(content, place, _LIST_WORDS, lg_k, _LIST_BITS, _COMPACT, count, _LIST)
            place += LIST_BYTES
        else:
            bits = _table_bits(count, _SET_BITS)
            _write_head(content, place, _SET_WORDS, lg_k, bits, _COMPACT, 0, _SET)
            _write_integer(content, place + LIST_BYTES, count)
            place += SET_BYTES
        start = collected.starts[cell]
        for i in range(count):
            _write_integer(content, place + 4 * i, np.int64(collected.coupons[start + i]))


@inlined
def _are_coupons(content: Array, place: int, stop: int) -> Any:
    """Return whether the coupons of a sketch ascend, and each has a value of at least 1."""
    former = np.int64(0)
    for at in range(place, stop, 4):
        coupon = _integer(content, at)
        if coupon <= former or coupon >> SLOT_BITS == 0:
            return False
        former = coupon
    return True


@inlined
def _count_digits(content: Array, start: int, half: int, least: int, work: Work) -> Any:
    """Write the number of registers with each value to ``work.counts``, without exceptions. Return the number of
    exceptions, or -1 if a register has an impossible value.
    """
    pairs = work.pairs
    for pair in range(pairs.size):
        pairs[pair] = 0
    for i in range(half):
        pairs[content[start + i]] += 1
    for value in range(work.counts.size):
        work.counts[value] = 0
    exceptions = 0
    for pair in range(pairs.size):
        for digit in (pair & 15, pair >> 4):
            if digit == _EXCEPTION:
                exceptions += pairs[pair]
            elif least + digit <= _VALUE_MOST:
                work.counts[least + digit] += pairs[pair]
            elif pairs[pair]:
                return -1
    return exceptions


@inlined
def _is_sound_dense(content: Array, place: int, stop: int, lg_k: int, work: Work) -> Any:
    """Return whether the bytes of a sketch with registers are those that :func:`write_sketches` writes."""
    half, least = (1 << lg_k) // 2, np.int64(content[place + 6])
    start = place + DENSE_BYTES
    if stop < start + half or least > _VALUE_MOST:
        return False
    exceptions = _count_digits(content, start, half, least, work)
    if exceptions < 0 or stop != start + half + 4 * exceptions or work.counts[least] == 0:
        return False
    former = np.int64(-1)
    for at in range(start + half, stop, 4):
        coupon = _integer(content, at)
        slot, value = coupon & _LOW, coupon >> SLOT_BITS
        if slot <= former or slot >= 2 * half or value < least + _EXCEPTION:
            return False
        if (content[start + (slot >> 1)] >> (4 * (slot & 1))) & 15 != _EXCEPTION:
            return False
        work.counts[value] += 1
        former = slot
    _write_dense_head(least, exceptions, lg_k, work, work.written, 0)
    return True


@inlined
def _is_sound(content: Array, place: int, stop: int, lg_k: int, work: Work) -> Any:
    """Return whether the bytes of a sketch are exactly those that :func:`write_sketches` writes."""
    size, mode, number = stop - place, content[place + 7], np.int64(content[place + 6])
    if mode == _LIST:
        if not 0 < number < _LIST_END or size != LIST_BYTES + 4 * number:
            return False
        _write_head(work.written, 0, _LIST_WORDS, lg_k, _LIST_BITS, _COMPACT, number, _LIST)
        end = LIST_BYTES
    elif mode == _SET:
        number = 0 if size < SET_BYTES else _integer(content, place + LIST_BYTES)
        if not _LIST_END <= number <= _coupon_bound(lg_k) or size != SET_BYTES + 4 * number:
            return False
        _write_head(work.written, 0, _SET_WORDS, lg_k, _table_bits(number, _SET_BITS), _COMPACT, 0, _SET)
        _write_integer(work.written, LIST_BYTES, number)
        end = SET_BYTES
    elif mode == _DENSE:
        if not _is_sound_dense(content, place, stop, lg_k, work):
            return False
        end = DENSE_BYTES
    else:
        return False
    for i in range(end):
        if content[place + i] != work.written[i]:
            return False
    return mode == _DENSE or _are_coupons(content, place + end, stop)


@compiled
def check(stored: Stored, lg_k: int, work: Work) -> int:
    """Return SOUND if the bytes of all sketches are those that :func:`write_sketches` writes for this ``lg_k``. Else
    return DAMAGED, or OTHER for another ``lg_k``.
    """
    if stored.offsets[stored.offsets.size - 1] > stored.content.size or stored.offsets[0] < 0:
        return DAMAGED
    for i in range(stored.offsets.size - 1):
        place, stop = stored.offsets[i], stored.offsets[i + 1]
        if stop == place:
            continue
        if stop < place + LIST_BYTES or stored.content[place + 1] != _VERSION or stored.content[place + 2] != _FAMILY:
            return DAMAGED
        if stored.content[place + 3] != lg_k:
            return OTHER
        if not _is_sound(stored.content, place, stop, lg_k, work):
            return DAMAGED
    return SOUND
