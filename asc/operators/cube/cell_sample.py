"""Samples of base cells: the keys of a few thousand cells from few days. The cost of drawing does not grow with the
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
"""The largest number of cells of a sample."""
SEED = 2013
_DAYS = 8
"""The largest number of days from which cells are drawn."""
_DAYS_LEAST = 2
_CELLS_A_DRAWN = 20
"""If fewer than one in this number of cells would be drawn, cells are drawn from fewer days. A smaller share of the
cells gives a poor estimate of the sizes of groups.
"""
_UNITED_VALUES = 100_000
"""The largest number of values in all dictionaries of a dimension for which the different values are counted."""
_ROUNDS = 4
_GOLDEN, _MASK = 0x9E37_79B9_7F4A_7C15, (1 << 64) - 1

_Ints = npt.NDArray[np.int64]
_Range = tuple[int, int, int]
"""The index of a part, the index of the range's first cell in the part, and the index after the last cell."""


@dataclass(frozen=True, slots=True, eq=False)
class CellSample:
    """The keys of some cells of the base cuboid, drawn at random from the cells of a few whole days.

    ``panes`` int64[n]: the pane of each drawn cell. ``codes``: for each dimension, the code of each drawn cell's value,
    int32[n]. ``radixes``: for each dimension, an upper bound of the number of its values in these days. ``population``:
    the number of cells in these days. ``days``: the number of days; None if the population is all given cells.
    ``touched``: the number of cells whose values were read.

    The cells come from whole days, because the panes of any view are at most a day long. So a large share of these
    days' cells can be drawn, from which the cells of a view in these days are estimated well. A sample of all days
    would have a small share.
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
        """Return a sample of the cells of several parts. It has all cells if there are at most ``most``, else cells of
        8 days.

        ``parts``: cells of the base cuboid; no two of them have the same pane and key. If reading cells is costly, give
        only the cells of :func:`days_to_read`. Days are chosen in proportion to their numbers of cells. If less than
        one in 20 cells of these days would be drawn, fewer days are used, but at least two.

        Cost: binary searches in the panes, and reading the keys of the drawn cells. Equal parts and seeds give equal
        samples.
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
    """Return 8 days, spread over the panes from ``first`` to before ``end``, as pairs of the first pane and the pane
    after the last.

    A caller for whom reading cells is costly gives only the cells of these panes to :meth:`CellSample.of`. The first
    and the last day may be incomplete, so they are only included if there are few days.

    >>> days_to_read(5, 24 * 3, 24)
    [(0, 24), (24, 48), (48, 72)]
    """
    least, last = first // panes_a_day, (end - 1) // panes_a_day
    if last - least >= _DAYS + 2:
        least, last = least + 1, last - 1
    days = sorted({int(day) for day in np.linspace(least, last, min(_DAYS, last - least + 1)).round()})
    return [(day * panes_a_day, (day + 1) * panes_a_day) for day in days]


def drawn(count: int, most: int, seed: int) -> _Ints:
    """Return ``most`` different numbers from 0 to below ``count``, drawn at random; all numbers if ``count`` is at most
    ``most``.

    Cost: some four times ``most`` steps for any ``count``. A bijection over all numbers of a certain number of bits
    mixes the numbers 0, 1, 2, ..., and the results below ``count`` are taken.
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
    """Return a permutation of the numbers below ``2**bits``. The seed chooses the permutation.

    Each step is invertible: to add a number, to multiply by an odd number, and to combine the number with its bits
    shifted to the right.
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
    """Return at most _DAYS days: the days of cells that are evenly spread over all cells. Cost: the pane of one cell
    for each day.
    """
    ends = np.cumsum([part.count for part in parts])
    days = set[int]()
    for number in range(_DAYS):
        row = (2 * number + 1) * total // (2 * _DAYS)
        place = int(np.searchsorted(ends, row, side="right"))
        part = parts[place]
        days.add(int(part.panes[row - int(ends[place])]) // panes_a_day)
    return sorted(days)


def _ranges(parts: Sequence[Cells], days: Sequence[int], panes_a_day: int) -> Iterator[_Range]:
    """Yield the ranges of the cells of each part that are in one of the days."""
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
    """Return the sample of the cells at the indices ``rows``, ascending, among the concatenated ranges."""
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
    """Return an upper bound of the number of different values of several keys, NULL included."""
    dictionaries = list({id(key.dictionary): key.dictionary for key in keys}.values())
    total = sum(map(len, dictionaries))
    if len(dictionaries) == 1 or total > _UNITED_VALUES:
        return total + 1
    return len(pc.unique(pa.concat_arrays(dictionaries))) + 1
