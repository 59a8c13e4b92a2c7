"""The cost of stored views in an hour: the cells that questions read, and the cells that are merged when
panes close.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asc.operators.cube.definition import HOUR_S
from asc.operators.cube.kept_cells import KeptBand, KeptCells
from asc.operators.cube.lattice import Bits, Lattice, is_finer
from asc.operators.cube.view import View
from asc.operators.cube.view_estimate import Pause, unpaused

Floats = npt.NDArray[np.float64]

_COMPARED = 1 << 17
"""The number of pairs of a candidate and a demanded view that are compared in one step: about as many as fit into the
processor's cache.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ViewCosts:
    """The costs of candidates for a demand.

    Arrays with an element for each candidate, first the base view: ``cells``, the number of its stored cells.
    ``replaced``: the number of kept cells of the panes that it covers. ``merged``: the number of cells of its panes
    that close in an hour; 0 for the base view, which is stored in any case.

    Arrays with an element for each demanded view: ``demanded_bits``, its bits in the lattice. ``rates``: the number of
    the cube's panes that its questions read in an hour. ``kept``: the number of kept cells of the panes for which it
    can be computed. ``spans``: the number of these panes.

    The cost of a set of views is the number of cells that questions read in an hour, plus the number of cells that are
    merged in an hour. Each question reads the nearest stored view, and kept cells of older panes that this view does
    not cover. Questions are assumed to be spread evenly over the panes for which their view can be computed.
    """

    views: tuple[View, ...]
    names: tuple[str, ...]
    bits: Bits
    cells: Floats
    replaced: Floats
    merged: Floats
    demanded_bits: Bits
    rates: Floats
    kept: Floats
    spans: Floats

    @staticmethod
    def of(
        lattice: Lattice,
        views: Sequence[View],
        cells: Floats,
        panes: int,
        asked: Mapping[View, float],
        *,
        bands: tuple[KeptBand, ...] = (),
    ) -> ViewCosts:
        """Return the costs of candidates.

        ``views``: the base view, then the others. ``cells``: the number of stored cells of each. The base view covers
        ``panes`` panes of the cube, some of which may have no cell, and ``bands`` cover older panes. ``asked``: for
        each view, the number of panes that questions read in an hour.
        """
        held = KeptCells(float(cells[0]), panes, bands)
        merged = cells / _spans(held, views) * (HOUR_S / lattice.grain_s)
        merged[0] = 0.0
        return ViewCosts(
            tuple(views),
            tuple(map(lattice.name, views)),
            lattice.bits(views),
            cells,
            _floats(map(held.cells, views)),
            merged,
            lattice.bits(asked),
            _floats(asked.values()),
            _floats(map(held.cells, asked)),
            _spans(held, asked),
        )

    def nearest(self, chosen: Sequence[int]) -> Floats:
        """Return for each demanded view the average number of cells that its questions read per pane of the cube.
        ``chosen``: the stored candidates, in addition to the base view and the bands.
        """
        own = np.array([0, *chosen])
        is_own = is_finer(self.bits[own], self.demanded_bits)
        found: Floats = np.where(is_own, self._read(own), np.inf).min(axis=0)
        return found

    def cost(self, chosen: Sequence[int]) -> float:
        """Return the cost of a set of stored candidates, in cells an hour."""
        return float(self.rates @ self.nearest(chosen)) + float(self.merged[list(chosen)].sum())

    def gains(self, nearest: Floats, places: npt.NDArray[np.int64], pause: Pause = unpaused) -> Floats:
        """Return for each candidate in ``places`` the cost that it saves if it is stored too. ``nearest``: the result
        of :meth:`nearest` for the stored views.
        """
        gains = np.empty(len(places))
        step = max(1, _COMPARED // max(1, len(self.rates)))
        for start in range(0, len(places), step):
            own = places[start : start + step]
            saved = np.maximum(nearest[None, :] - self._read(own), 0.0)
            saved *= is_finer(self.bits[own], self.demanded_bits)
            gains[start : start + step] = saved @ self.rates - self.merged[own]
            pause()
        return gains

    def with_view(self, nearest: Floats, place: int) -> Floats:
        """Return the result of :meth:`nearest` after the candidate ``place`` is stored too."""
        is_own = is_finer(self.bits[[place]], self.demanded_bits)[0]
        return np.where(is_own, np.minimum(nearest, self._read(np.array([place]))[0]), nearest)

    def _read(self, places: npt.NDArray[np.int64]) -> Floats:
        """Return float64[candidates, demanded views]: the average number of cells per pane of the cube that questions
        for each demanded view read from each candidate in ``places``.
        """
        older = np.maximum(self.kept[None, :] - self.replaced[places][:, None], 0.0)
        return (self.cells[places][:, None] + older) / self.spans[None, :]


def _spans(held: KeptCells, views: Iterable[View]) -> Floats:
    return np.maximum(_floats(map(held.span, views)), 1.0)


def _floats(numbers: Iterable[float]) -> Floats:
    return np.array(list(numbers), dtype=np.float64)
