"""Cells: groups in panes, with the states of their measures, and functions that merge cells."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.grouping import Grouping, pane_digit
from asc.operators.cube.keys import Key
from asc.operators.cube.layout import Layout
from asc.operators.cube.piece import Piece, PieceHead
from asc.operators.cube.states.memory import cut

_Ints = npt.NDArray[np.int64]

_SEARCH_CELLS = 64
"""The least number of cells per pane at which a binary search for each pane's first cell costs less than a pass over
all cells.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of one cuboid, in any panes.

    ``panes`` int64[n], ascending: the pane number of each cell. ``keys``: one key for each expression of the cuboid.
    ``states``: one Arrow array for each slot of the layout.

    Invariant: no two cells have the same pane and the same key. Cells are sorted by pane, then by key.
    """

    panes: _Ints
    keys: tuple[Key, ...]
    states: tuple[pa.Array, ...]

    @property
    def count(self) -> int:
        """Return the number of cells."""
        return len(self.panes)

    @property
    def size_bytes(self) -> int:
        """Return the size of the arrays in bytes."""
        keys = sum(key.codes.nbytes + key.dictionary.nbytes for key in self.keys)
        return int(self.panes.nbytes + keys + sum(state.nbytes for state in self.states))

    @staticmethod
    def none(layout: Layout) -> Cells:
        """Return an empty set of cells of the base cuboid."""
        keys = tuple(Key.of(pa.array([], operand.type)) for operand in layout.dimensions)
        states = tuple(pa.array([], slot.state.storage) for slot in layout.slots)
        return Cells(frozen(np.zeros(0, dtype=np.int64)), keys, states)

    def between(self, first: int | None, end: int | None) -> Cells:
        """Return the cells of the panes from ``first`` to before ``end``. None means no bound."""
        start = 0 if first is None else int(np.searchsorted(self.panes, first))
        stop = self.count if end is None else int(np.searchsorted(self.panes, end))
        return self.slice(start, max(start, stop))

    def slice(self, start: int, stop: int) -> Cells:
        """Return the cells from ``start`` to before ``stop``."""
        if start == 0 and stop == self.count:
            return self
        keys = tuple(key.slice(start, stop) for key in self.keys)
        return Cells(self.panes[start:stop], keys, tuple(own.slice(start, stop - start) for own in self.states))

    def take(self, rows: npt.NDArray[np.int64]) -> Cells:
        """Return the cells at the ascending indices ``rows``."""
        places = pa.array(rows)
        keys = tuple(key.take(rows) for key in self.keys)
        return Cells(frozen(self.panes[rows]), keys, tuple(own.take(places) for own in self.states))

    def compact(self) -> Cells:
        """Return the cells with smaller dictionaries if these are much larger than the values in use, see
        :meth:`Key.bounded`.
        """
        return replace(self, keys=tuple(key.bounded() for key in self.keys))

    def different_panes(self) -> _Ints:
        """Return the numbers of the panes that have a cell, ascending.

        Cost: one binary search for each pane of the interval. If the interval has nearly as many panes as cells, a pass
        over the cells.
        """
        panes = self.panes
        if not self.count:
            return panes
        first, end = int(panes[0]), int(panes[-1]) + 1
        if end - first > self.count // _SEARCH_CELLS:
            panes = panes[np.append(0, np.flatnonzero(np.diff(panes)) + 1)]
        else:
            panes = first + np.flatnonzero(np.diff(np.searchsorted(panes, np.arange(first, end + 1))))
        return panes

    @property
    def bounds(self) -> list[int]:
        """Return the index of the first cell of each pane that has a cell, and at the end the number of cells."""
        if not self.count:
            return [0]
        return [0, *(np.flatnonzero(np.diff(self.panes)) + 1).tolist(), self.count]

    def pieces(self, layout: Layout) -> Iterator[Piece]:
        """Yield the cells of each pane as a piece, by ascending pane."""
        bounds = self.bounds
        is_one = len(bounds) == 2
        keys = [[*key.arrays(bounds)] for key in self.keys]
        states = [[own] if is_one else [*cut(own, bounds)] for own in self.states]
        schema = layout.piece_schema_of([key.dictionary.type for key in self.keys])
        heads: dict[tuple[Hashable, ...], PieceHead] = {}
        for place, start in enumerate(bounds[:-1]):
            parts = [key[place] for key in keys]
            arrays = [*(array for array, _ in parts), *(state[place] for state in states)]
            head = heads.setdefault(tuple(mark for _, mark in parts), PieceHead())
            yield Piece(int(self.panes[start]), pa.RecordBatch.from_arrays(arrays, schema=schema), head)

    @staticmethod
    def of_piece(layout: Layout, piece: Piece) -> Cells:
        """Return the cells of a piece."""
        columns, width = piece.batch.columns, piece.batch.num_columns - len(layout.slots)
        panes = frozen(np.full(piece.count, piece.pane, dtype=np.int64))
        return Cells(panes, tuple(map(Key.of_array, columns[:width])), tuple(columns[width:]))

    def rolled_up(self, kept: Sequence[int]) -> Cells:
        """Return the cells with only the keys at the indices ``kept``. Cells with equal keys are not merged, so the
        invariant of the class does not hold for the result.
        """
        return replace(self, keys=tuple(self.keys[place] for place in kept))


def joined(layout: Layout, parts: Sequence[Cells]) -> Cells:
    """Return the cells of several parts, concatenated, with one dictionary for each key. The invariant of
    :class:`Cells` does not hold for the result.
    """
    parts = [part for part in parts if part.count] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]
    keys = tuple(Key.joined([part.keys[place] for part in parts]) for place in range(len(parts[0].keys)))
    states = tuple(pa.concat_arrays([part.states[place] for part in parts]) for place in range(len(layout.slots)))
    return Cells(frozen(np.concatenate([part.panes for part in parts])), keys, states)


def merged(layout: Layout, parts: Sequence[Cells], *, by_pane: bool = True) -> Cells:
    """Return the result of merging cells, in the order of the parts.

    All parts have the same keys. Their cells may repeat and need not be sorted. Without ``by_pane`` all panes are
    combined into one pane with the number 0.
    """
    whole = joined(layout, parts)
    if not whole.count:
        return whole
    digits = [(key.codes, key.radix) for key in whole.keys]
    grouping = Grouping.of([pane_digit(whole.panes), *digits] if by_pane else digits, whole.count)
    states = tuple(
        slot.state.merge(own, grouping.cells, grouping.count)
        for slot, own in zip(layout.slots, whole.states, strict=True)
    )
    panes = whole.panes[grouping.firsts] if by_pane else np.zeros(grouping.count, dtype=np.int64)
    return Cells(frozen(panes), tuple(key.take(grouping.firsts) for key in whole.keys), states)
