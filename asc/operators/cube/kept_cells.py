"""The cells that a cube keeps of its past: base cells of the newest panes, and cells of bands before them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from asc.operators.cube.view import View


@dataclass(frozen=True, slots=True)
class KeptBand:
    """The cells of a band of older panes. ``panes``: the panes of the cube that they cover."""

    view: View
    cells: float
    panes: int


@dataclass(frozen=True, slots=True)
class KeptCells:
    """The only copy of a cube's closed panes: base cells, and before them bands, the newest band first.

    ``base``: the cells of the base view. ``panes``: the panes of the cube that these cover.

    A view is computed from what is kept, so it begins after the newest band that is not finer than the view. All
    averages are over these panes alone.
    """

    base: float
    panes: int
    bands: tuple[KeptBand, ...] = ()

    def span(self, view: View) -> int:
        """Return the panes of the cube for which a view can be computed.

        >>> kept = KeptCells(600.0, 60, (KeptBand(View((1,), 60), 100.0, 600), KeptBand(View((0,), 60), 9.0, 6_000)))
        >>> kept.span(View((1,), 1)), kept.span(View((1,), 60)), kept.span(View((0,), 120))
        (60, 660, 6660)
        """
        return self.panes + sum(band.panes for band in self._finer(view))

    def cells(self, view: View) -> float:
        """Return the cells that are kept of these panes."""
        return self.base + sum(band.cells for band in self._finer(view))

    def estimated(self, view: View, share: float) -> float:
        """Return the cells of a view. ``share``: its cells for each base cell of the same panes.

        The base cells of the older panes are gone. They are taken to have been as many in a pane as the newest ones.
        """
        return min(share * self.base / max(1, self.panes) * self.span(view), self.cells(view))

    def _finer(self, view: View) -> Iterator[KeptBand]:
        """Yield the bands from which a view is computed."""
        for band in self.bands:
            if not band.view.is_finer(view):
                return
            yield band
