"""Costs of stored views in an hour: the cells that questions read, and the cells of the panes that close."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asc.operators.cube.definition import HOUR_S
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
    """The costs of candidates for a demand. Arrays have one element for each candidate; the first is the base view.

    ``cells``: the stored cells of each candidate. ``read``: its cells in a pane of the cube, on average. ``merged``:
    the cells that its closing panes have in an hour; 0 for the base view, which is stored in any case.
    ``demanded_bits``, ``rates``: the demanded views, and the panes of the cube that their questions read in an hour.

    The cost of a set of views is the cells that questions read in an hour, plus the cells that are merged in an hour.
    Each question reads the nearest stored view.
    """

    views: tuple[View, ...]
    names: tuple[str, ...]
    bits: Bits
    cells: Floats
    read: Floats
    merged: Floats
    demanded_bits: Bits
    rates: Floats

    @staticmethod
    def of(
        lattice: Lattice, views: Sequence[View], cells: Floats, panes: int, asked: Mapping[View, float]
    ) -> ViewCosts:
        """Return the costs of candidates.

        ``views``: the base view, then the others. ``cells``: the stored cells of each, over ``panes`` panes of the
        cube, of which some may have no cell. ``asked``: the panes that questions for each view read in an hour.
        """
        read = cells / max(1, panes)
        merged = read * (HOUR_S / lattice.grain_s)
        merged[0] = 0.0
        names = tuple(map(lattice.name, views))
        rates = np.array(list(asked.values()), dtype=np.float64)
        return ViewCosts(tuple(views), names, lattice.bits(views), cells, read, merged, lattice.bits(asked), rates)

    def nearest(self, chosen: Sequence[int]) -> Floats:
        """Return for each demanded view the cells of its nearest view, in a pane of the cube. The base view is always
        stored.
        """
        own = np.array([0, *chosen])
        is_own = is_finer(self.bits[own], self.demanded_bits)
        found: Floats = np.where(is_own, self.read[own][:, None], np.inf).min(axis=0)
        return found

    def cost(self, chosen: Sequence[int]) -> float:
        """Return the cost of a set of candidates in cells an hour."""
        return float(self.rates @ self.nearest(chosen)) + float(self.merged[list(chosen)].sum())

    def gains(self, nearest: Floats, places: npt.NDArray[np.int64], pause: Pause = unpaused) -> Floats:
        """Return for each of some candidates the cost that it saves if it is stored too. ``nearest``: the result of
        :meth:`nearest` for the stored views.
        """
        gains = np.empty(len(places))
        step = max(1, _COMPARED // max(1, len(self.rates)))
        for start in range(0, len(places), step):
            own = places[start : start + step]
            saved = np.maximum(nearest[None, :] - self.read[own][:, None], 0.0)
            saved *= is_finer(self.bits[own], self.demanded_bits)
            gains[start : start + step] = saved @ self.rates - self.merged[own]
            pause()
        return gains

    def with_view(self, nearest: Floats, place: int) -> Floats:
        """Return ``nearest`` after one more candidate is stored."""
        is_own = is_finer(self.bits[[place]], self.demanded_bits)[0]
        return np.where(is_own, np.minimum(nearest, self.read[place]), nearest)
