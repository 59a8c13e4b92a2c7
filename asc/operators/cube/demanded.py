"""The views that a question demands: the coarsest ones that answer the parts of its interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from asc.operators.cube.cuboid import Levels
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View

Demanded = tuple[tuple[View, int], ...]
"""Views, each with the panes of the cube that a question reads of it."""

_Ints = npt.NDArray[np.int64]


def demanded_views(lattice: Lattice, cuboid: Levels, step: int | None, segments: Sequence[tuple[int, int]]) -> Demanded:
    """Return the views that a question demands, longer panes first, each with the panes of the cube that it answers.

    ``cuboid``: the cuboid with all dimensions of the question. ``step``: the panes of each row's interval; None if all
    panes are combined. ``segments``: the disjoint intervals of panes that the question reads, as of
    :meth:`Question.segments`. A pane of a view is read only if it lies in one segment. The whole panes of the longest
    possible view answer most of a long segment, and shorter panes answer its two ends. Cost: some .1 ms, and .6 us for
    each segment.

    >>> from asc.operators.cube.cuboid import Dimensions
    >>> lattice = Lattice(Dimensions((("origin",),)), 3_600)
    >>> [(view.panes, panes) for view, panes in demanded_views(lattice, (1,), None, [(22, 24 * 30 + 12)])]
    [(24, 696), (12, 12), (2, 2)]
    >>> [(view.panes, panes) for view, panes in demanded_views(lattice, (1,), 4, [(4, 12)])]
    [(4, 8)]
    >>> [(view.panes, panes) for view, panes in demanded_views(lattice, (1,), None, [(14, 16), (38, 40)])]
    [(2, 4)]
    """
    firsts, ends = np.array(segments, dtype=np.int64).reshape(-1, 2).T
    longest = lattice.longest(step)
    # Both ends of a segment without a whole pane of the longest view are at its end, and its inner part is empty.
    inner_firsts = np.minimum(-(-firsts // longest) * longest, ends)
    inner_ends = ends // longest * longest
    is_short = inner_firsts >= inner_ends
    inner_firsts, inner_ends = (np.where(is_short, ends, own) for own in (inner_firsts, inner_ends))
    panes_of = {longest: int((inner_ends - inner_firsts).sum())}
    for begins, stops in ((firsts, inner_firsts), (inner_ends, ends)):
        for length, panes in _parts(lattice, step, begins, stops):
            panes_of[length] = panes_of.get(length, 0) + panes
    return tuple(
        (View(cuboid, length), panes_of[length]) for length in sorted(panes_of, reverse=True) if panes_of[length]
    )


def _parts(lattice: Lattice, step: int | None, firsts: _Ints, ends: _Ints) -> list[tuple[int, int]]:
    """Return lengths of panes that divide both ends of intervals and the step, the longest possible ones. Return with
    each the panes of these intervals together.
    """
    common = np.gcd(np.gcd(firsts, ends), step or 0)
    divisors, places = np.unique(common, return_inverse=True)
    panes = np.bincount(places, weights=ends - firsts, minlength=len(divisors))
    return [
        (lattice.longest(own), int(read)) for own, read in zip(divisors.tolist(), panes.tolist(), strict=True) if read
    ]
