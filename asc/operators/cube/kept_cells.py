"""The cells that a cube keeps of its closed panes: base cells of the newest panes, and cells of bands for
older panes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from asc.operators.cube.view import View


@dataclass(frozen=True, slots=True)
class KeptBand:
    """The cells of a band of older panes. ``cells``: their number. ``panes``: the number of the cube's panes that they
    cover.
    """

    view: View
    cells: float
    panes: int


@dataclass(frozen=True, slots=True)
class KeptCells:
    """The numbers of cells that are the only copy of a cube's closed panes: the base cells, and the bands from the
    newest on.

    ``base``: the number of cells of the base view. ``panes``: the number of panes that the base view covers.

    A view is computed from kept cells. So it can cover the panes of the base view, and of each band up to the first
    that is not finer than the view. All averages are over these panes.
    """

    base: float
    panes: int
    bands: tuple[KeptBand, ...] = ()

    def span(self, view: View) -> int:
        """Return the number of the cube's panes for which a view can be computed.

        >>> kept = KeptCells(600.0, 60, (KeptBand(View((1,), 60), 100.0, 600), KeptBand(View((0,), 60), 9.0, 6_000)))
        >>> kept.span(View((1,), 1)), kept.span(View((1,), 60)), kept.span(View((0,), 120))
        (60, 660, 6660)
        """
        return self.panes + sum(band.panes for band in self._finer(view))

    def cells(self, view: View) -> float:
        """Return the number of kept cells of the panes for which a view can be computed."""
        return self.base + sum(band.cells for band in self._finer(view))

    def estimated(self, view: View, share: float) -> float:
        """Return the estimated number of cells of a view. ``share``: the number of the view's cells for each base cell
        of the same panes.

        For panes in bands, the base cells are deleted. Their number per pane is assumed to be that of the newest panes.
        """
        return min(share * self.base / max(1, self.panes) * self.span(view), self.cells(view))

    def _finer(self, view: View) -> Iterator[KeptBand]:
        """Yield the bands from whose cells a view can be computed."""
        for band in self.bands:
            if not band.view.is_finer(view):
                return
            yield band
