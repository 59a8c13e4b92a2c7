"""The cells that one step of filling views reads: cells of stored pieces, and of pieces that the step itself writes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Protocol

from asc.operators.cube.cells import Cells, joined
from asc.operators.cube.layout import Layout
from broker.operators.cube.panes import StoredPiece

_RUNS_CELLS = 400_000
"""The most cells of runs that a step caches for the views that are computed next."""


class ReadAll(Protocol):
    """A function that returns the cells of stored pieces, in the order of the pieces. It raises DamagedPieceError."""

    def __call__(self, layout: Layout, pieces: Sequence[StoredPiece], *, is_kept: bool) -> list[Cells]: ...


class StepCells:
    """The cache of the cells of pieces during one step. Several views that are computed from the same pieces share the
    cells.

    A run is a sequence of pieces that are read together. The dictionaries of its keys are built once, even if several
    views are computed from the run. Not thread-safe.
    """

    def __init__(self, layout: Layout, read: ReadAll, fresh: Mapping[int, Cells], *, is_kept: bool) -> None:
        """Set the sources. ``fresh``: the cells of new pieces by number. ``is_kept``: whether cells of stored pieces
        are added to the cache of :class:`PieceReader`, because questions may read them again.
        """
        self._layout = layout
        self._read = read
        self._is_kept = is_kept
        self._fresh = dict(fresh)
        self._written: dict[int, tuple[Cells, int, int]] = {}
        self._runs: OrderedDict[tuple[int, ...], Cells] = OrderedDict()
        self._count = 0

    def pieces(self, pieces: Sequence[StoredPiece]) -> list[Cells]:
        """Return the cells of each of the pieces ``pieces``, in their order. Stored pieces are read; new ones are in
        memory.
        """
        missing = [own for own in pieces if own.number not in self._fresh and own.number not in self._written]
        read = self._read(self._layout, missing, is_kept=self._is_kept) if missing else []
        found = {own.number: cells for own, cells in zip(missing, read, strict=True)}
        return [found[own.number] if own.number in found else self._new(own.number) for own in pieces]

    def run(self, pieces: Sequence[StoredPiece]) -> Cells:
        """Return the cells of several pieces, concatenated in the order of the pieces. The result is cached for the
        next views.
        """
        numbers = tuple(own.number for own in pieces)
        cells = self._runs.get(numbers)
        if cells is None:
            cells = joined(self._layout, self.pieces(pieces))
            self._keep(numbers, cells)
        return cells

    def write(self, numbers: Sequence[int], cells: Cells) -> None:
        """Add the cells of new pieces. ``numbers``: the numbers of the pieces, one for each pane of ``cells``, in this
        order.
        """
        bounds = cells.bounds
        for place, number in enumerate(numbers):
            self._written[number] = cells, bounds[place], bounds[place + 1]
        self._keep(tuple(numbers), cells)

    def _new(self, number: int) -> Cells:
        if number in self._fresh:
            return self._fresh[number]
        cells, start, stop = self._written[number]
        return cells.slice(start, stop)

    def _keep(self, numbers: tuple[int, ...], cells: Cells) -> None:
        self._runs[numbers] = cells
        self._count += cells.count
        while self._count > _RUNS_CELLS:
            _, oldest = self._runs.popitem(last=False)
            self._count -= oldest.count
