# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""The search in an index of shapes. It finds the cells around a position, and the shapes whose test the position
satisfies (in short: shapes that the position meets).

Positions are sorted by cell. For some hundred positions at a time, the entries of the cells around them (pairs of a
cell and a shape) are first listed, and then evaluated. So the shapes of the next entries are prefetched into the
processor's cache while one entry is evaluated. A hundred thousand shapes have 66 MB, and a batch needs most of them.
Without prefetching, waiting for shapes took half of the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled, inlined, prefetch
from asc.spatial.cells import cell_of, z_order
from asc.spatial.cover import FULL, NEAR_BITS, PARTED, TURN_BITS
from asc.spatial.location import NO, YES, ShapeArrays, crosses, holds_by_edges, holds_in_plane
from asc.spatial.shape import KIND_WORD, POLYGONS, RELATION_WORD, WITHIN_DISTANCE
from asc.spatial.subcells import EMPTY, FILLED, subcell_of, subcell_state

Array = npt.NDArray[Any]

ENTRIES = 2_048
"""The number of entries of the index (pairs of a cell and a shape) that are listed before they are evaluated."""

ENTRY, CERTAIN = np.int64(0x7FFFFFFF), np.int64(1 << 31)
"""The bits of ``position << 32 | entry``. ENTRY: the number of the entry. CERTAIN: whether the position certainly meets
the shape.
"""

PREFETCH_DISTANCE = 24
"""The number of entries between the entry that is evaluated and the entry whose shape is prefetched. The offset of a
shape in memory is prefetched earlier, by the same number of entries.
"""

_LINE_WORDS, _MOST_WORDS = 8, 48
"""The words of a cache line, and the most words of a shape that are prefetched; the processor prefetches the rest
itself.
"""


class IndexArrays(NamedTuple):
    """The arrays of an index of shapes as kernels read them: those of :class:`asc.spatial.index.ShapeIndex`."""

    square: Array
    starts: Array
    shifts: Array
    parents: Array
    first: Array
    places: Array
    entry_flags: Array
    near_first: Array
    edges: Array
    spots: Array
    inside: Array


@compiled
def find_keys(square: Array, x: Array, y: Array, keys: Array) -> None:
    """Write the index in the Z-order of the smallest cell around each position to ``keys``; -1 if the position is
    outside of the square or NaN.
    """
    for row in range(x.size):
        inside = square[0] <= x[row] <= square[1] and square[2] <= y[row] <= square[3]
        keys[row] = -1
        if inside:
            keys[row] = z_order(cell_of(x[row], square[4], square[5]), cell_of(y[row], square[6], square[7]))


@inlined
def cell_before(starts: Array, key: int, near: int) -> int:
    """Return the last cell that starts at or before ``key``, a position in the Z-order; -1 if there is none. ``near``:
    the cell from which the search begins. The search is quick if the result is this cell or a cell shortly after it.
    """
    low, step = max(near, 0), 1
    if starts.size == 0 or starts[0] > key:
        return -1
    if starts[low] > key:
        low, high = 0, low
    else:
        high = low + step
        while high < starts.size and starts[high] <= key:
            low = high
            step <<= 1
            high = low + step
        high = min(high, starts.size)
    while high - low > 1:
        middle = (low + high) >> 1
        if starts[middle] <= key:
            low = middle
        else:
            high = middle
    return low


@inlined
def list_entries(index: IndexArrays, cells: Array, place: int, cell: int, entries: Array) -> tuple[int, int, int]:
    """Write ``position << 32 | entry`` for each entry whose shape a position may meet. The first position is ``place``.
    The bit CERTAIN is set if the position meets the shape.

    ``cells``: the Z-order of each position, ascending. ``cell``: the cell around the previous position. Return the next
    position, the cell around the last position, and the number of entries. The function ends before the first position
    whose entries exceed the capacity of ``entries``. There are fewer than 1 << 27 positions.
    """
    starts, shifts, parents, first = index.starts, index.shifts, index.parents, index.first
    places, entry_flags = index.places, index.entry_flags
    count = 0
    while place < cells.size:
        count_before = count
        key = cells[place]
        cell = cell_before(starts, key, cell) if key >= 0 else -1
        around = cell
        while around >= 0:
            shift = np.int64(shifts[around])
            if key < starts[around] + (np.int64(1) << 2 * shift):
                begin, end = first[around], first[around + 1]
                if count + end - begin > entries.size:
                    return place, cell, sifted(entry_flags, entries, count_before)
                prefetch(places, begin)  # type: ignore[call-arg]
                prefetch(entry_flags, begin)
                listed = (place << 36) | (subcell_of(key, shift) << 32)
                for entry in range(begin, end):
                    entries[count] = listed | entry
                    count += 1
            around = parents[around]
        place += 1
    return place, cell, sifted(entry_flags, entries, count)


@compiled
def sifted(entry_flags: Array, entries: Array, count: int) -> int:
    """Keep only the entries whose shape the position may meet. Return the number of these entries.

    ``entries`` are ``position << 36 | sixteenth << 32 | entry``. The remaining entries become
    ``position << 32 | entry``, with the bit CERTAIN if the position meets the shape.
    """
    kept = 0
    for current in range(count):
        listed = entries[current]
        entry = listed & ENTRY
        says = np.int64(entry_flags[entry])
        is_certain = says & FULL != 0
        if says & PARTED:
            state = subcell_state(says >> NEAR_BITS, listed >> 32 & 15)
            if state == EMPTY:
                continue
            is_certain = state == FILLED
        entries[kept] = (listed >> 36) << 32 | (CERTAIN if is_certain else np.int64(0)) | entry
        kept += 1
    return kept


@inlined
def prefetch_shapes(shapes: ShapeArrays, index: IndexArrays, entries: Array, current: int, count: int) -> None:
    """Prefetch the shapes of the entries that will be evaluated soon into the processor's cache. ``current``: the entry
    that is evaluated now.
    """
    words, bases, places = shapes.words, shapes.bases, index.places
    if current + 2 * PREFETCH_DISTANCE < count:
        prefetch(bases, np.int64(places[entries[current + 2 * PREFETCH_DISTANCE] & ENTRY]))  # type: ignore[call-arg]
    if current + PREFETCH_DISTANCE < count:
        prefetched = entries[current + PREFETCH_DISTANCE]
        if prefetched & CERTAIN == 0:
            number = places[prefetched & ENTRY]
            base = bases[number]
            for word in range(base, min(bases[number + 1], base + _MOST_WORDS), _LINE_WORDS):
                prefetch(words, word)  # type: ignore[call-arg]


@inlined
def entry_holds(shapes: ShapeArrays, index: IndexArrays, base: int, flags: int, x: float, y: float) -> int:
    """Return NO, YES or UNSURE: whether a position meets a shape. ``base``: the index of the shape's key in the words.

    ``flags``: the flags of the entry of the shape for the position's cell. The caller ensures that the entry does not
    have the bit CERTAIN.
    """
    words, reals = shapes.words, shapes.reals
    near_first, edges, spots, inside = index.near_first, index.edges, index.spots, index.inside
    turn = flags >> TURN_BITS & 3
    if turn > 0 and words[base + RELATION_WORD] <= WITHIN_DISTANCE:
        # For distances on the sphere, the position needs no turn, because the formula is periodic.
        x += 360.0 if turn == 1 else -360.0
    near = 0 if flags & PARTED else flags >> NEAR_BITS
    if near == 0:
        return holds_in_plane(words, reals, base, x, y)
    near -= 1
    is_inside = inside[near]
    to_x, to_y = spots[near, 0], spots[near, 1]
    if words[base + RELATION_WORD] == WITHIN_DISTANCE or words[base + KIND_WORD] & 0xFF != POLYGONS:
        near_places = edges[near_first[near] : near_first[near + 1]]
        return holds_by_edges(words, reals, base, near_places, is_inside, to_x, to_y, x, y)
    for place in range(near_first[near], near_first[near + 1]):
        end = base + edges[place]
        crossed = crosses(reals[end - 2], reals[end - 1], reals[end], reals[end + 1], x, y, to_x, to_y)
        if crossed == 2:
            # The position is on this edge, or too near to it to decide. The whole shape decides.
            return holds_in_plane(words, reals, base, x, y)
        is_inside ^= crossed == 1
    return YES if is_inside else NO


@compiled
def find_shapes(
    shapes: ShapeArrays,
    index: IndexArrays,
    keys: Array,
    x: Array,
    y: Array,
    entries: Array,
    row: int,
    ends: Array,
    met: Array,
    count: int,
) -> tuple[int, int]:
    """Write to ``met`` the numbers of the shapes that each position from ``row`` on meets. For an undecided shape,
    write the bitwise complement of its number.

    Return the next row, and the number of numbers written. The function ends when all rows are done, or ``entries``
    lacks capacity for a row, or ``met`` has less capacity left than ``entries``. ``keys``: ascending. ``ends``
    int64[rows]: the end of each row's shapes. ``entries`` int64[m]: scratch.
    """
    bases, places, entry_flags = shapes.bases, index.places, index.entry_flags
    cell = -1
    while row < keys.size:
        upto, cell, many = list_entries(index, keys, row, cell, entries)
        if upto == row or count + entries.size > met.size:
            return row, count
        next_row = row
        for current in range(many):
            prefetch_shapes(shapes, index, entries, current, many)
            listed = entries[current]
            here, entry = listed >> 32, listed & ENTRY
            ends[next_row:here] = count
            next_row = here
            number = places[entry]
            holds = YES
            if listed & CERTAIN == 0:
                holds = entry_holds(shapes, index, bases[number], entry_flags[entry], x[here], y[here])
            if holds != NO:
                met[count] = number if holds == YES else ~number
                count += 1
        ends[next_row:upto] = count
        row = upto
    return row, count
