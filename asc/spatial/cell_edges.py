"""Cells of shapes with many vertices, divided further. Each cell has a list of the edges that decide whether a position
in the cell satisfies the test of the shape.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from asc.spatial.cells import rectangle, z_order
from asc.spatial.cover import (
    FULL,
    LOOKED,
    NEAR,
    NEAR_BITS,
    STORED,
    TURN_BITS,
    edges_of,
    has_short_edge,
    near_edges,
    place_from,
)
from asc.spatial.location import INSIDE, OUTSIDE, place_in_polygons
from asc.spatial.shape import KIND_WORD, POLYGONS

Array = npt.NDArray[Any]

_BLINDLY = 2
"""The number of times that cells near more than half of all edges are divided without regard to the bounds STORED and
LOOKED. For a test of a distance, the first cells are as large as the distance, and nearly all quarters of these cells
are full or empty.
"""

_SPOTS = (0.5, 0.37, 0.61)
"""The relative positions in a cell that are tried as the cell's spot, which must be certainly inside or outside the
shape.
"""


@dataclass(slots=True)
class NearEdges:
    """Lists of the edges near cells of large shapes, while an index is being built. A list also has a spot, a position
    in the cell that is known to be inside or outside the shape. An edge is stored as the offset of its end vertex from
    the shape's key.

    The straight line from a position of the cell to the spot crosses some of these edges. If their number is even, the
    position is on the same side as the spot, inside or outside; if it is odd, on the other side. For a test of a
    distance, the list contains the edge nearest to the position, if this edge is within the distance. Cost: 4 bytes for
    each edge, 25 for each list.
    """

    edges: list[npt.NDArray[np.int32]] = field(default_factory=list)
    spots: list[tuple[float, float]] = field(default_factory=list)
    inside: list[bool] = field(default_factory=list)

    def add(self, edges: npt.NDArray[np.int32], spot: tuple[float, float], *, inside: bool) -> int:
        """Add a list. Return the flags of a cell that has the list: the list's number plus one, from bit
        NEAR_BITS on.
        """
        self.edges.append(edges)
        self.spots.append(spot)
        self.inside.append(inside)
        return len(self.edges) << NEAR_BITS


Spot = tuple[float, float, bool]
"""A position, and whether it is certainly inside (True) or certainly outside (False) a shape."""


Edges = npt.NDArray[np.int32]
"""Edges of a shape, each as the offset of its end vertex from the shape's key."""

Place = tuple[int, int, int, int]
"""The position of a cell: its shift (the number of further halvings down to the smallest cells), its column, its row,
and its turn. The turn is the index in (0, 360, -360) of the degrees that are added to its longitudes.
"""


@dataclass(frozen=True, slots=True)
class _Cell:
    place: Place
    edges: Edges
    spot: Spot | None
    is_full: bool


@dataclass(frozen=True, slots=True)
class LargeShape:
    """A shape of many vertices, whose key begins at ``base`` in the memory of keys, and the square that its cells
    divide.

    Cost: for each cell that is divided, four passes over the edges near it; for each of the first cells, a pass over
    all edges.
    """

    words: Array
    reals: Array
    base: int
    square: Array

    def cells(self, partial: Iterable[Place], near: NearEdges) -> Iterator[tuple[int, int, int]]:
        """Yield the cells that replace the partial cells of the shape. Each cell has its start, its shift, and the
        flags of its entry.

        ``partial``: the partial cells, in which only some positions satisfy the test. ``near``: receives the lists of
        edges. A cell is divided while more than NEAR edges are near it, larger cells first. Two bounds end the
        division. All lists together have at most STORED times as many edges as the shape, or as many as at the
        beginning. At most LOOKED times as many edges as the shape has are read. If more than half of all edges are near
        a cell, the cell gets no list, and the search reads all edges for a position in this cell.
        """
        every = edges_of(self.words, self.base)
        if has_short_edge(self.words, self.reals, self.base, every):
            yield from ((_start(place), place[0], place[3] << TURN_BITS) for place in partial)
            return
        edge_buffer = np.empty(len(every), dtype=np.int32)
        first = [self._cell(place, every, every, edge_buffer, None) for place in partial]
        for _ in range(_BLINDLY):
            parts = [self._quarters(cell, every, edge_buffer) if _is_wide(cell, every) else (cell,) for cell in first]
            first = list(chain.from_iterable(parts))
        waiting = deque(first)
        stored = sum(len(cell.edges) for cell in waiting if cell.edges is not every)
        most, left, put_off = max(stored, STORED * len(every)), LOOKED * len(every), 0
        while waiting:
            cell = waiting.popleft()
            shift, turn, is_stored = cell.place[0], cell.place[3], cell.edges is not every
            if not len(cell.edges) and cell.spot is not None:
                if cell.is_full:
                    yield _start(cell.place), shift, FULL | turn << TURN_BITS
                continue
            if len(cell.edges) > NEAR and shift > 0 and left > 0:
                left -= 4 * len(cell.edges)
                quarters = list(self._quarters(cell, every, edge_buffer))
                more = sum(len(part.edges) for part in quarters if part.edges is not every)
                more -= len(cell.edges) if is_stored else 0
                if stored + more <= most:
                    stored, put_off = stored + more, 0
                    waiting.extend(quarters)
                    continue
                # Retry this cell later, when the division of other cells has made their lists shorter.
                if put_off < len(waiting):
                    put_off += 1
                    waiting.append(cell)
                    continue
            flags = 0
            if is_stored and cell.spot is not None:
                flags = near.add(cell.edges, cell.spot[:2], inside=cell.spot[2])
            yield _start(cell.place), shift, flags | turn << TURN_BITS

    def _quarters(self, cell: _Cell, every: Edges, edge_buffer: Edges) -> Iterator[_Cell]:
        shift, first, low, turn = cell.place
        for column in (2 * first, 2 * first + 1):
            for row in (2 * low, 2 * low + 1):
                yield self._cell((shift - 1, column, row, turn), cell.edges, every, edge_buffer, cell)

    def _cell(self, place: Place, among: Edges, every: Edges, edge_buffer: Edges, around: _Cell | None) -> _Cell:
        """Return a cell with the edges near it. ``around``: the cell whose quarter it is, or None. ``among``: the edges
        near that cell, or all edges.
        """
        shift, column, row, turn = place
        where = rectangle(self.square, shift, column, row, (0.0, 360.0, -360.0)[turn])
        count, is_full = near_edges(self.words, self.reals, self.base, among, *where, edge_buffer)
        spot = self._spot(where, around)
        edges = every if 2 * count > len(every) else edge_buffer[:count].copy()
        return _Cell(place, edges, spot, is_full or (spot is not None and spot[2]))

    def _spot(self, where: tuple[float, float, float, float], around: _Cell | None) -> Spot | None:
        """Return a spot in the rectangle ``where`` of a cell. If possible, it is derived from the spot of ``around``,
        the cell whose quarter the cell is. Return None if it is undecided for all tried positions whether they are
        inside the shape.
        """
        x0, y0, x1, y1 = where
        if self.words[self.base + KIND_WORD] & 0xFF != POLYGONS:
            # Lines and points have no inside.
            return x0, y0, False
        places = [(x0 + share * (x1 - x0), y0 + (1 - share) * (y1 - y0)) for share in _SPOTS]
        if around is not None and around.spot is not None:
            to_x, to_y, inside = around.spot
            for x, y in places:
                place = place_from(self.reals, self.base, around.edges, inside, x, y, to_x, to_y)
                if place in (INSIDE, OUTSIDE):
                    return x, y, place == INSIDE
        for x, y in places:
            place = place_in_polygons(self.words, self.reals, self.base, x, y)
            if place in (INSIDE, OUTSIDE):
                return x, y, place == INSIDE
        return None


def _is_wide(cell: _Cell, every: Edges) -> bool:
    return cell.edges is every and cell.place[0] > 0


def _start(place: Place) -> int:
    shift, column, row, _ = place
    return int(z_order(column, row)) << (2 * shift)
