"""Candidates of the optimiser: the views that the optimiser compares for a demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View

CANDIDATES_MOST = 4_096
"""The largest number of candidates."""
_JOINED = 256
"""The largest number of demanded views whose common ancestors become candidates."""


def candidates(lattice: Lattice, asked: Mapping[View, float], always: Iterable[View] = ()) -> tuple[View, ...]:
    """Return the views that the optimiser compares: the base view, then the others in the order of the lattice.

    A useful view answers some of the demanded views. The coarsest view that answers the same demanded views has no more
    cells. So only the demanded views, and the coarsest common ancestors of several demanded views, are candidates. If
    they are too many, the most demanded views take at most half of CANDIDATES_MOST. Common ancestors take the other
    places, those of the most demanded views first.

    ``asked``: the demand of each view, in any unit. ``always``: views that are candidates in any case, such as stored
    views.
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
