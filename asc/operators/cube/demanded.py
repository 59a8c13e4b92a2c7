"""The views that a question needs: the coarsest views that answer the parts of the question's interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from asc.operators.cube.cuboid import Levels
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View

Demanded = tuple[tuple[View, int], ...]
"""Views, each with the number of the cube's panes that a question reads from the view."""

_Ints = npt.NDArray[np.int64]


def demanded_views(lattice: Lattice, cuboid: Levels, step: int | None, segments: Sequence[tuple[int, int]]) -> Demanded:
    """Return the views that a question needs, longer panes first, each with the number of the cube's panes that it
    answers.

    ``cuboid``: the cuboid with all dimensions that the question names. ``step``: the number of panes in the interval of
    each row; None if all panes are combined. ``segments``: the disjoint intervals of panes that the question reads, see
    :meth:`Question.segments`. A pane of a view is read only if it lies in one segment. Whole panes of the longest
    possible view answer the inner part of a long segment, and shorter panes answer its two ends. Cost: some .1 ms, and
    .6 us for each segment.

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
    # If a segment contains no whole pane of the longest view, its inner part is empty, and the first loop below answers
    # it whole.
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
    """Return the greatest lengths of panes that divide both ends of intervals and ``step``. Return with each length the
    number of panes of its intervals together.
    """
    common = np.gcd(np.gcd(firsts, ends), step or 0)
    divisors, places = np.unique(common, return_inverse=True)
    panes = np.bincount(places, weights=ends - firsts, minlength=len(divisors))
    return [
        (lattice.longest(own), int(read)) for own, read in zip(divisors.tolist(), panes.tolist(), strict=True) if read
    ]
