"""Occurrences: how often each different value occurs in each cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asc.frozen import frozen
from asc.operators.cube.grouping import Grouping
from asc.operators.cube.states.kernels import add_counts, count_rows
from asc.operators.cube.states.state import Places, Rows, Values

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """The different pairs of a cell and a value's code, ascending.

    ``cells`` and ``codes`` int32[n]: the pairs. ``counts`` int64[n]: how often each pair occurs. ``starts`` int64[cells
    + 1]: the index of each cell's first pair.
    """

    cells: Places
    codes: Places
    counts: _Ints
    starts: _Ints

    @staticmethod
    def of_rows(values: Values, rows: Rows, cells: Places, count: int) -> Occurrences:
        """Return the occurrences among some rows; NULL values are skipped. ``values.numbers`` int32: the code of each
        value.
        """
        if len(values.nulls):
            is_kept = ~values.nulls[rows]
            rows, cells = rows[is_kept], frozen(cells[is_kept])
        codes = frozen(values.numbers[rows])
        radix = 0 if values.dictionary is None else len(values.dictionary)
        return Occurrences._of_groups(cells, codes, radix, count)[0]

    @staticmethod
    def summed(
        cells: Places, codes: Places, radix: int, count: int, *weights: _Ints
    ) -> tuple[Occurrences, list[_Ints]]:
        """Return the occurrences of pairs that repeat, and the sums of ``weights`` over the equal pairs. ``radix``:
        codes are less than this number. ``count``: the number of cells.
        """
        occurrences, places = Occurrences._of_groups(cells, codes, radix, count)
        sums = [np.zeros(len(occurrences.cells), dtype=np.int64) for _ in weights]
        for weight, total in zip(weights, sums, strict=True):
            add_counts(weight, places, total)
        return occurrences, sums

    @staticmethod
    def _of_groups(cells: Places, codes: Places, radix: int, count: int) -> tuple[Occurrences, Places]:
        """Return the occurrences of pairs, and for each given pair the index of its different pair."""
        if not len(cells):
            none, nothing = frozen(np.zeros(0, dtype=np.int32)), frozen(np.zeros(0, dtype=np.int64))
            return Occurrences(none, none, nothing, frozen(np.zeros(count + 1, dtype=np.int64))), none
        grouping = Grouping.of([(cells, count), (codes, radix)], len(cells))
        counts = np.zeros(grouping.count, dtype=np.int64)
        count_rows(grouping.cells, counts)
        different = cells[grouping.firsts]
        starts = np.searchsorted(different, np.arange(count + 1)).astype(np.int64)
        pairs = frozen(different), frozen(codes[grouping.firsts]), frozen(counts), frozen(starts)
        return Occurrences(*pairs), grouping.cells
