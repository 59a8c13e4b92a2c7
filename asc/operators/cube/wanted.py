"""The views that questions and outputs ask for: the coarsest ones from which they can be answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from asc.operators.cube.cuboid import Levels
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.question import Question
from asc.operators.cube.view import View


@dataclass(frozen=True, slots=True)
class Wanted:
    """The coarsest view that answers a part of an interval, and the panes of the cube in this part."""

    view: View
    panes: int


def wanted_by(
    lattice: Lattice, question: Question, columns: Sequence[int], *, first: int, end: int
) -> tuple[Wanted, ...]:
    """Return the coarsest views from which a question can be answered: of its interval, or of up to three parts.

    ``columns``: the dimensions that the question names in its cuboids or in WHERE (see
    :func:`asc.operators.cube.source.needed_columns`). ``first``, ``end``: the first kept pane of the cube, and the pane
    after its last closed one. No question reads other panes.

    The panes of the view divide the bounds of the interval and the grain. If the interval begins or ends within a day,
    the whole days in it and both edges are parts, if these together have fewer panes. If the question has a grain, the
    longest panes that divide it take the place of days.

    >>> from asc.operators.cube.cuboid import Dimensions
    >>> lattice, week = Lattice(Dimensions((("a",),)), 3_600), Question(((1,),), ((0,),), first=7, end=24 * 7 + 8)
    >>> [(lattice.name(part.view), part.panes) for part in wanted_by(lattice, week, (0,), first=0, end=1_000)]
    [('a at 1h', 17), ('a at 1d', 144), ('a at 8h', 8)]
    """
    cuboid = lattice.dimensions.cuboid_with(columns)
    start = first if question.first is None else max(first, question.first)
    stop = end if question.end is None else min(end, question.end)
    if start >= stop:
        return ()
    whole = (Wanted(View(cuboid, lattice.longest(start, stop, question.panes)), stop - start),)
    return min(whole, _cut(lattice, cuboid, (start, stop), lattice.longest(question.panes)), key=_panes_read)


def wanted_of_output(lattice: Lattice, cuboid: Levels, *, window: int, slide: int) -> Wanted:
    """Return the coarsest view from which a window of an output can be computed. ``window``, ``slide``: in panes of the
    cube.
    """
    return Wanted(View(cuboid, lattice.longest(window, slide)), window)


def _cut(lattice: Lattice, cuboid: Levels, interval: tuple[int, int], length: int) -> tuple[Wanted, ...]:
    """Return the parts of an interval: the panes of a length that are within it, and the edges beside them."""
    start, stop = interval
    first = min(-(-start // length) * length, stop)
    end = max(stop // length * length, first)
    bounds = ((start, first), (first, end), (end, stop))
    return tuple(
        Wanted(View(cuboid, lattice.longest(begin, close, length)), close - begin)
        for begin, close in bounds
        if begin < close
    )


def _panes_read(parts: Sequence[Wanted]) -> int:
    return sum(part.panes // part.view.panes for part in parts)
