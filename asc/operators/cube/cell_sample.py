"""Samples of base cells: the keys of a few thousand cells out of few days, drawn at a cost that does not grow with the
cube.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.frozen import frozen
from asc.operators.cube.cells import Cells
from asc.operators.cube.keys import Codes, Key

SAMPLE_CELLS = 10_000
"""The number of cells of a sample."""
SEED = 2013
_DAYS = 8
"""The number of days from which cells are drawn."""
_DAYS_LEAST = 2
_CELLS_A_DRAWN = 20
"""The number of cells from which one is drawn, above which fewer days are taken. A smaller share says little about
the sizes of groups.
"""
_UNITED_VALUES = 100_000
"""The number of values of all dictionaries of a dimension, up to which the different ones are counted."""
_ROUNDS = 4
_GOLDEN, _MASK = 0x9E37_79B9_7F4A_7C15, (1 << 64) - 1

_Ints = npt.NDArray[np.int64]
_Range = tuple[int, int, int]
"""A part, by its index, and the first of its cells, and the cell after the last."""


@dataclass(frozen=True, slots=True, eq=False)
class CellSample:
    """The keys of some cells of the base cuboid, drawn at random out of the cells of few whole days.

    ``panes`` int64[n]: the pane of each drawn cell. ``codes``: for each dimension, the codes int32[n] of its drawn
    values. ``radixes``: for each dimension, a bound on the number of its values in these days. ``population``: the
    number of cells in these days. ``days``: the number of days; None if the population is all cells that were given.
    ``touched``: the number of cells of which a value was read.

    The population is the cells of few days, because the panes of any view are at most a day long. So the cells of a
    view in these days can be estimated from a much larger share of the cells than a sample of all days would have.
    """

    panes: _Ints
    codes: tuple[Codes, ...]
    radixes: tuple[int, ...]
    population: int
    days: int | None
    touched: int

    @property
    def count(self) -> int:
        """Return the number of drawn cells."""
        return len(self.panes)

    @staticmethod
    def of(parts: Sequence[Cells], panes_a_day: int, *, most: int = SAMPLE_CELLS, seed: int = SEED) -> CellSample:
        """Return a sample of the cells of several parts: of all cells if they are at most ``most``, else of 8 days.

        ``parts``: cells of the base cuboid, of which no two have the same pane and key, as those of closed panes. Give
        the parts of the days of :func:`days_to_read` if it costs much to read all. Days are drawn in proportion to
        their cells. If one in 20 cells could not be drawn then, there are fewer days, but at least two.

        Cost: binary searches in the panes, and the keys of the drawn cells. Equal parts and seeds give equal samples.
        """
        parts = [part for part in parts if part.count]
        total = sum(part.count for part in parts)
        ranges: list[_Range] = [(place, 0, part.count) for place, part in enumerate(parts)]
        days, touched = None, 0
        if total > most:
            chosen = _days_of(parts, panes_a_day, total)
            touched = _DAYS
            while True:
                ranges = list(_ranges(parts, chosen, panes_a_day))
                if len(chosen) <= _DAYS_LEAST or _size(ranges) <= _CELLS_A_DRAWN * most:
                    break
                chosen = chosen[::2]
            days = len(chosen)
        size = _size(ranges)
        rows = np.sort(drawn(size, most, seed))
        return _taken(parts, ranges, rows, days, touched)


def days_to_read(first: int, end: int, panes_a_day: int) -> list[tuple[int, int]]:
    """Return the panes, as pairs of the first and the end, of 8 days spread over the days between two panes.

    A caller for whom cells are costly to read gives only the cells of these panes to :meth:`CellSample.of`. The first
    and the last day, which may be partial, are among them only if there are few days.

    >>> days_to_read(5, 24 * 3, 24)
    [(0, 24), (24, 48), (48, 72)]
    """
    least, last = first // panes_a_day, (end - 1) // panes_a_day
    if last - least >= _DAYS + 2:
        least, last = least + 1, last - 1
    days = sorted({int(day) for day in np.linspace(least, last, min(_DAYS, last - least + 1)).round()})
    return [(day * panes_a_day, (day + 1) * panes_a_day) for day in days]


def drawn(count: int, most: int, seed: int) -> _Ints:
    """Return ``most`` different numbers below ``count``, drawn at random, or all numbers if there are no more.

    Cost: some four times ``most`` steps, whatever ``count`` is. The numbers 0, 1, 2, ... are mixed by a bijection of
    all numbers of as many bits, and those that stay below ``count`` are taken.
    """
    if count <= most:
        return np.arange(count, dtype=np.int64)
    bits = max(2, (count - 1).bit_length())
    taken = np.zeros(0, dtype=np.int64)
    size = 4 * most + 64
    while len(taken) < most:
        mixed = _mixed(np.arange(min(size, 1 << bits), dtype=np.uint64), bits, seed)
        taken = mixed[mixed < count].astype(np.int64)
        size *= 2
    return taken[:most]


def _mixed(numbers: npt.NDArray[np.uint64], bits: int, seed: int) -> npt.NDArray[np.uint64]:
    """Return a permutation of the numbers of ``bits`` bits, which the seed chooses.

    Each step can be undone: to add a number, to multiply by an odd number, and to shift to the right and combine.
    """
    mask, shift = np.uint64((1 << bits) - 1), np.uint64((bits + 1) // 2)
    for step in range(_ROUNDS):
        key = _finalised(seed + step * _GOLDEN)
        numbers = (numbers + np.uint64(key)) & mask
        numbers = (numbers * np.uint64(_finalised(key) | 1)) & mask
        numbers ^= numbers >> shift
    return numbers


def _finalised(number: int) -> int:
    """Return a number mixed by SplitMix64, 64 bits."""
    number = (number + _GOLDEN) & _MASK
    number = (number ^ number >> 30) * 0xBF58_476D_1CE4_E5B9 & _MASK
    number = (number ^ number >> 27) * 0x94D0_49BB_1331_11EB & _MASK
    return number ^ number >> 31


def _days_of(parts: Sequence[Cells], panes_a_day: int, total: int) -> list[int]:
    """Return the days of evenly spread cells, at most _DAYS. Cost: one pane of one cell for each day."""
    ends = np.cumsum([part.count for part in parts])
    days = set[int]()
    for number in range(_DAYS):
        row = (2 * number + 1) * total // (2 * _DAYS)
        place = int(np.searchsorted(ends, row, side="right"))
        part = parts[place]
        days.add(int(part.panes[row - int(ends[place])]) // panes_a_day)
    return sorted(days)


def _ranges(parts: Sequence[Cells], days: Sequence[int], panes_a_day: int) -> Iterator[_Range]:
    """Yield the ranges of cells that are in some days."""
    for place, part in enumerate(parts):
        first, last = int(part.panes[0]), int(part.panes[-1])
        for day in days:
            if last >= day * panes_a_day and first < (day + 1) * panes_a_day:
                start, stop = np.searchsorted(part.panes, (day * panes_a_day, (day + 1) * panes_a_day)).tolist()
                if start < stop:
                    yield place, start, stop


def _size(ranges: Sequence[_Range]) -> int:
    return sum(stop - start for _, start, stop in ranges)


def _taken(parts: Sequence[Cells], ranges: Sequence[_Range], rows: _Ints, days: int | None, touched: int) -> CellSample:
    """Return the keys of the cells at ascending indices of the concatenated ranges."""
    begins = np.cumsum([0, *(stop - start for _, start, stop in ranges)])
    cuts = np.searchsorted(rows, begins)
    panes, several = [], []
    for number, (place, start, _) in enumerate(ranges):
        own = rows[cuts[number] : cuts[number + 1]] - begins[number] + start
        panes.append(parts[place].panes[own])
        several.append(tuple(key.take(own) for key in parts[place].keys))
    by_dimension = list(zip(*several, strict=True))
    codes = tuple(Key.joined([key.compact() for key in keys]).codes for keys in by_dimension)
    radixes = tuple(map(_radix, by_dimension))
    joined = frozen(np.concatenate(panes) if panes else np.zeros(0, dtype=np.int64))
    return CellSample(joined, codes, radixes, int(begins[-1]), days, touched + len(joined))


def _radix(keys: Sequence[Key]) -> int:
    """Return a bound on the number of different values of several keys, with NULL."""
    dictionaries = list({id(key.dictionary): key.dictionary for key in keys}.values())
    total = sum(map(len, dictionaries))
    if len(dictionaries) == 1 or total > _UNITED_VALUES:
        return total + 1
    return len(pc.unique(pa.concat_arrays(dictionaries))) + 1
