"""Compiled loops over positions and the cells of geohashes."""

from __future__ import annotations

from typing import Any, NamedTuple

from asc.compiled import compiled, inlined

Array = Any


class Positions(NamedTuple):
    """Positions in degrees: float64[n]. The masks of NULL are bool[n], or empty if there is no NULL."""

    latitudes: Array
    longitudes: Array
    latitude_nulls: Array
    longitude_nulls: Array


@compiled
def geohash_cells(positions: Positions, bits: int, out: Array) -> None:
    """Write the number of each position's cell to ``out`` int64[n], and -1 for a position without a cell.

    ``bits``: from 1 to 60. The first bit of a number is of the longitude, the next of the latitude, and so on. A cell
    has its lower edges; the last cells also have the edges 90 and 180.
    """
    longitude_bits, latitude_bits = (bits + 1) // 2, bits // 2
    for i in range(out.size):
        latitude, longitude = positions.latitudes[i], positions.longitudes[i]
        out[i] = -1
        if positions.latitude_nulls.size and positions.latitude_nulls[i]:
            continue
        if positions.longitude_nulls.size and positions.longitude_nulls[i]:
            continue
        # A NaN is not in range.
        if -90.0 <= latitude <= 90.0 and -180.0 <= longitude <= 180.0:
            column = _slice(longitude, 180.0, longitude_bits)
            row = _slice(latitude, 90.0, latitude_bits)
            out[i] = _spread(row) << 1 | _spread(column) if bits & 1 else _spread(column) << 1 | _spread(row)


@compiled
def geohash_places(cells: Array, bits: int, columns: Array, rows: Array) -> None:
    """Write for each cell int64[n] the index of its slice of longitudes to ``columns``, and of latitudes to ``rows``,
    int64[n].
    """
    for i in range(cells.size):
        last, other = _gathered(cells[i]), _gathered(cells[i] >> 1)
        columns[i] = last if bits & 1 else other
        rows[i] = other if bits & 1 else last


@inlined
def _slice(value: float, extent: float, bits: int) -> int:
    """Return the index of the slice that contains a value, if ``-extent`` to ``extent`` has ``2 ** bits`` slices."""
    count = 1 << bits
    half = extent / count
    slice_ = min(int((value + extent) * (0.5 / half)), count - 1)
    # The sum may be rounded. The edges are exact: multiples of a power of two that fit into a double.
    if (2 * slice_ - count) * half > value:
        slice_ -= 1
    elif slice_ < count - 1 and (2 * slice_ + 2 - count) * half <= value:
        slice_ += 1
    return slice_


@inlined
def _spread(number: int) -> int:
    """Return a number of at most 30 bits with a zero before each bit."""
    number = (number | number << 16) & 0x0000_FFFF_0000_FFFF
    number = (number | number << 8) & 0x00FF_00FF_00FF_00FF
    number = (number | number << 4) & 0x0F0F_0F0F_0F0F_0F0F
    number = (number | number << 2) & 0x3333_3333_3333_3333
    return (number | number << 1) & 0x5555_5555_5555_5555


@inlined
def _gathered(number: int) -> int:
    """Return every second bit of a number of at most 60 bits, from the last one on: the inverse of :func:`_spread`."""
    number &= 0x5555_5555_5555_5555
    number = (number | number >> 1) & 0x3333_3333_3333_3333
    number = (number | number >> 2) & 0x0F0F_0F0F_0F0F_0F0F
    number = (number | number >> 4) & 0x00FF_00FF_00FF_00FF
    number = (number | number >> 8) & 0x0000_FFFF_0000_FFFF
    return (number | number >> 16) & 0x3FFF_FFFF
