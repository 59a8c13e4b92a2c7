"""The cells of large shapes, cut further, with the edges near each."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from asc.spatial.cells import z_order
from asc.spatial.cover import FULL, NEAR, NEAR_BITS, STORED, TURN_BITS, near_edges, nearer_edges, place_from
from asc.spatial.location import INSIDE, OUTSIDE, place_in_polygons

Array = npt.NDArray[Any]

_SPOTS = (0.5, 0.37, 0.61)
"""Where in a cell a position is looked for that is certainly inside or outside."""


@dataclass(slots=True)
class NearEdges:
    """Lists of the edges near a cell, as they are made: of each a spot of the cell, whether it is inside the shape, and
    the edges, by the place of the vertex at their end after the shape's key.

    A position of the cell is inside where the way to the spot crosses an even number of these edges and the spot is
    inside, or an odd one and it is not. Cost: 4 bytes an edge, 25 a list.
    """

    edges: list[npt.NDArray[np.int32]] = field(default_factory=list)
    spots: list[tuple[float, float]] = field(default_factory=list)
    inside: list[bool] = field(default_factory=list)

    def add(self, edges: npt.NDArray[np.int32], spot: tuple[float, float], *, inside: bool) -> int:
        """One list more; what is told of a cell that has it."""
        self.edges.append(edges)
        self.spots.append(spot)
        self.inside.append(inside)
        return len(self.edges) << NEAR_BITS


Spot = tuple[float, float, bool]
"""A position that is certainly inside or outside of a shape, and which."""


@dataclass(frozen=True, slots=True)
class _Cell:
    shift: int
    column: int
    row: int
    edges: npt.NDArray[np.int32]
    spot: Spot | None


@dataclass(frozen=True, slots=True)
class LargeShape:
    """A shape of many vertices, at ``base`` in the memory of keys, at a turn of the earth, in a square.

    Cost of its cells: of each that is cut a look at the edges near it; a look at all edges of the shape for those that
    it begins with.
    """

    words: Array
    reals: Array
    base: int
    vertices: int
    square: Array

    def cells(self, begun: Iterable[tuple[int, int, int, int]], near: NearEdges) -> Iterator[tuple[int, int, int]]:
        """The cells that take the place of partial ones, (shift, column, row, turn) each: where each starts, its shift,
        and what is told of it.

        They are cut while more than NEAR edges are near them, larger ones first, until all lists together have STORED
        times as many edges as the shape has vertices.
        """
        room = np.empty(self.vertices, dtype=np.int32)
        stored, most = 0, STORED * self.vertices
        for shift, column, row, turn in begun:
            moved = (0.0, 360.0, -360.0)[turn]
            where = self._rectangle(shift, column, row, moved)
            first = near_edges(self.words, self.reals, self.base, *where, room)
            waiting = deque([_Cell(shift, column, row, room[:first].copy(), self._spot(where, None))])
            stored += first
            while waiting:
                cell = waiting.popleft()
                if not len(cell.edges) and cell.spot is not None:
                    if cell.spot[2]:
                        yield (*_place(cell), FULL | turn << TURN_BITS)
                    continue
                parts = []
                if len(cell.edges) > NEAR and cell.shift > 0:
                    parts = list(self._quarters(cell, moved, room))
                more = sum(len(part.edges) for part in parts) - len(cell.edges)
                if parts and stored + more <= most:
                    stored += more
                    waiting.extend(parts)
                    continue
                told = 0 if cell.spot is None else near.add(cell.edges, cell.spot[:2], inside=cell.spot[2])
                yield (*_place(cell), told | turn << TURN_BITS)

    def _quarters(self, cell: _Cell, moved: float, room: npt.NDArray[np.int32]) -> Iterator[_Cell]:
        shift = cell.shift - 1
        for column in (2 * cell.column, 2 * cell.column + 1):
            for row in (2 * cell.row, 2 * cell.row + 1):
                where = self._rectangle(shift, column, row, moved)
                count = nearer_edges(self.reals, self.base, cell.edges, *where, room)
                yield _Cell(shift, column, row, room[:count].copy(), self._spot(where, cell))

    def _rectangle(self, shift: int, column: int, row: int, moved: float) -> tuple[float, float, float, float]:
        square = self.square
        return (
            square[4] + (column << shift) / square[5] - square[8] + moved,
            square[6] + (row << shift) / square[7] - square[9],
            square[4] + ((column + 1) << shift) / square[5] + square[8] + moved,
            square[6] + ((row + 1) << shift) / square[7] + square[9],
        )

    def _spot(self, where: tuple[float, float, float, float], around: _Cell | None) -> Spot | None:
        """A spot in a rectangle, found from that of the cell around it where that tells; None where none was found."""
        x0, y0, x1, y1 = where
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


def _place(cell: _Cell) -> tuple[int, int]:
    return int(z_order(cell.column, cell.row)) << (2 * cell.shift), cell.shift
