"""Candidates of the optimiser: the views that are worth comparing for a demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View

CANDIDATES_MOST = 4_096
"""The number of views that the optimiser compares."""
_JOINED = 256
"""The number of demanded views of which common ancestors are considered."""


def candidates(lattice: Lattice, asked: Mapping[View, float], always: Iterable[View] = ()) -> tuple[View, ...]:
    """Return the views that the optimiser compares: the base view first, then others in the order of the lattice.

    A view answers some of the demanded views. The coarsest view that answers these has no more cells, so only demanded
    views and the coarsest common ancestors of several demanded views are useful. If they are too many, these bounds
    hold: half of CANDIDATES_MOST for the demanded views that are asked for most, and the rest for common ancestors. The
    ancestors of the most demanded views come first, of all their subsets.

    ``asked``: how much each view is demanded. ``always``: views that are candidates in any case, as stored ones.
    """
    heaviest = sorted(asked, key=lambda view: (-asked[view], view))[: CANDIDATES_MOST // 2]
    demanded = lattice.bits(heaviest)
    closed = np.zeros(0, dtype=np.int64)
    for own in demanded[:_JOINED]:
        # The union of the bits of two views is their coarsest common ancestor.
        grown = np.union1d(closed, np.append(closed | own, own))
        if len(grown) > CANDIDATES_MOST - len(demanded):
            break
        closed = grown
    found = {lattice.view(own) for own in closed.tolist()} | {*heaviest, *always}
    found.discard(lattice.base)
    return (lattice.base, *sorted(found))
