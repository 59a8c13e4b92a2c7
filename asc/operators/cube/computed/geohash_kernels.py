"""Compiled loops over positions and the cells of geohashes."""

from __future__ import annotations

from typing import Any, NamedTuple

from asc.compiled import compiled, inlined

Array = Any


class Positions(NamedTuple):
    """Positions in degrees. Each coordinate is float64[n]. Each mask marks NULL: bool[n], or empty if no
    value is NULL.
    """

    latitudes: Array
    longitudes: Array
    latitude_nulls: Array
    longitude_nulls: Array


@compiled
def geohash_cells(positions: Positions, bits: int, out: Array) -> None:
    """Write the number of each position's cell to ``out`` int64[n], and -1 for a position without a cell.

    ``bits``: the number of bits of a cell, from 1 to 60. The first bit is a bit of the longitude, the second of the
    latitude, and so on. A cell contains its lower edges and not its upper edges. The last cells also contain the
    latitude 90 and the longitude 180.
    """
    longitude_bits, latitude_bits = (bits + 1) // 2, bits // 2
    for i in range(out.size):
        latitude, longitude = positions.latitudes[i], positions.longitudes[i]
        out[i] = -1
        if positions.latitude_nulls.size and positions.latitude_nulls[i]:
            continue
        if positions.longitude_nulls.size and positions.longitude_nulls[i]:
            continue
        # A NaN fails these comparisons.
        if -90.0 <= latitude <= 90.0 and -180.0 <= longitude <= 180.0:
            column = _slice(longitude, 180.0, longitude_bits)
            row = _slice(latitude, 90.0, latitude_bits)
            out[i] = _spread(row) << 1 | _spread(column) if bits & 1 else _spread(column) << 1 | _spread(row)


@compiled
def geohash_places(cells: Array, bits: int, columns: Array, rows: Array) -> None:
    """Write for each of ``cells`` int64[n] the index of its slice of longitudes to ``columns`` int64[n], and the index
    of its slice of latitudes to ``rows`` int64[n].
    """
    for i in range(cells.size):
        last, other = _gathered(cells[i]), _gathered(cells[i] >> 1)
        columns[i] = last if bits & 1 else other
        rows[i] = other if bits & 1 else last


@inlined
def _slice(value: float, extent: float, bits: int) -> int:
    """Return the index of the slice that contains a value. The interval from ``-extent`` to ``extent`` has ``2 **
    bits`` slices.
    """
    count = 1 << bits
    half = extent / count
    slice_ = min(int((value + extent) * (0.5 / half)), count - 1)
    # The sum may have been rounded, so compare the value with the slice's edges. Edges are exact: multiples of a power
    # of two that fit into a double.
    if (2 * slice_ - count) * half > value:
        slice_ -= 1
    elif slice_ < count - 1 and (2 * slice_ + 2 - count) * half <= value:
        slice_ += 1
    return slice_


@inlined
def _spread(number: int) -> int:
    """Return a number of at most 30 bits with a zero bit before each of its bits."""
    number = (number | number << 16) & 0x0000_FFFF_0000_FFFF
    number = (number | number << 8) & 0x00FF_00FF_00FF_00FF
    number = (number | number << 4) & 0x0F0F_0F0F_0F0F_0F0F
    number = (number | number << 2) & 0x3333_3333_3333_3333
    return (number | number << 1) & 0x5555_5555_5555_5555


@inlined
def _gathered(number: int) -> int:
    """Return every second bit of a number of at most 60 bits, from the lowest bit on: the inverse of
    :func:`_spread`.
    """
    number &= 0x5555_5555_5555_5555
    number = (number | number >> 1) & 0x3333_3333_3333_3333
    number = (number | number >> 2) & 0x0F0F_0F0F_0F0F_0F0F
    number = (number | number >> 4) & 0x00FF_00FF_00FF_00FF
    number = (number | number >> 8) & 0x0000_FFFF_0000_FFFF
    return (number | number >> 16) & 0x3FFF_FFFF
