"""The views that a question demands: the coarsest ones that answer the parts of its interval."""

from __future__ import annotations

from asc.operators.cube.cuboid import Levels
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View

Demanded = tuple[tuple[View, int], ...]
"""Views, each with the panes of the cube that a question reads of it."""


def demanded_views(lattice: Lattice, cuboid: Levels, step: int | None, first: int, end: int) -> Demanded:
    """Return the views that a question demands, each with the panes of the cube that it answers.

    ``cuboid``: the cuboid with all dimensions of the question. ``step``: the panes of each row's interval; None if all
    panes are combined. ``first``, ``end``: the panes of the interval. The whole panes of the longest possible view
    answer most of a long interval, and shorter panes answer its two ends.

    >>> from asc.operators.cube.cuboid import Dimensions
    >>> lattice = Lattice(Dimensions((("origin",),)), 3_600)
    >>> [(view.panes, panes) for view, panes in demanded_views(lattice, (1,), None, 22, 24 * 30 + 12)]
    [(24, 696), (2, 2), (12, 12)]
    >>> [(view.panes, panes) for view, panes in demanded_views(lattice, (1,), 4, 4, 12)]
    [(4, 8)]
    """
    longest = lattice.longest(step)
    inner_first, inner_end = -(-first // longest) * longest, end // longest * longest
    if inner_first >= inner_end:
        return _part(lattice, cuboid, step, first, end)
    before = _part(lattice, cuboid, step, first, inner_first)
    after = _part(lattice, cuboid, step, inner_end, end)
    return ((View(cuboid, longest), inner_end - inner_first), *before, *after)


def _part(lattice: Lattice, cuboid: Levels, step: int | None, first: int, end: int) -> Demanded:
    """Return the view with the longest panes that divide both ends of an interval. An empty interval demands none."""
    return ((View(cuboid, lattice.longest(step, first, end)), end - first),) if first < end else ()
