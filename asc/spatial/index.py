"""The index of many shapes, which finds the shapes whose spatial test a position may satisfy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from asc.frozen import STORED, OfArrays, arrays_of, frozen
from asc.spatial.cell_edges import LargeShape, NearEdges
from asc.spatial.cells import ACROSS, LEVELS, SIDE
from asc.spatial.cover import FULL, LARGE, TURN_BITS, EntryArrays, box_of, cover_shapes, find_parents
from asc.spatial.location import ShapeArrays
from asc.spatial.search import IndexArrays, cell_before, find_keys
from asc.spatial.shape import HEAD_WORDS, KIND_WORD, PLANAR, RELATION_WORD, RINGS_WORD, WITHIN_DISTANCE

Longs = npt.NDArray[np.int64]
Integers = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]

_CELLS_A_SHAPE = 9

_LEAST_WIDTH = 1e-250
"""The least width of the square around shapes in the plane."""

_USUAL_SIDES = SIDE / 16
"""The greatest length of a side of the square that the quadtree divides, in lengths of a usual shape. At this length, a
usual shape is as long as sixteen of the smallest cells.
"""


@dataclass(frozen=True, eq=False)
class Shapes:
    """The keys of shapes as kernels read them: the same memory as words and as float64.

    ``bases`` int64[n + 1]: the index of the first word of each key, and then the number of words. Keys that are
    consecutive in memory, as those of a dictionary are, are not copied.
    """

    words: Longs
    reals: Reals
    bases: Longs

    @staticmethod
    def of(offsets: Longs, data: npt.NDArray[np.uint8]) -> Shapes:
        """Return the shapes whose keys begin at the bytes ``offsets[:-1]`` of ``data``. The caller ensures that the
        length of each key is a multiple of 8 bytes.
        """
        words = data[: len(data) // 8 * 8].view(np.int64)
        words.setflags(write=False)
        return Shapes(words, words.view(np.float64), frozen(offsets // 8))

    def __len__(self) -> int:
        """Return the number of shapes."""
        return len(self.bases) - 1

    @cached_property
    def arguments(self) -> ShapeArrays:
        """The arrays as kernels read them. They are cached, because each batch reads them."""
        return ShapeArrays(words=self.words, reals=self.reals, bases=self.bases)

    def key(self, number: int) -> bytes:
        """Return the key of the shape with a number: the test that the key represents, as bytes."""
        return self.words[self.bases[number] : self.bases[number + 1]].tobytes()


@dataclass(frozen=True, eq=False)
class ShapeIndex(OfArrays):
    """Covers of shapes by cells of a quadtree, as a list of shapes for each cell (a linear quadtree: Gargantini 1982).

    ``square`` float64[11]: the square that the quadtree divides, as in :func:`asc.spatial.cover.cover_shape`. Its last
    element is 1 if an entry is for another turn of the earth, otherwise 0. ``starts`` int64[c]: the start of each cell
    in the Z-order, ascending, larger cells first. A cell ends ``1 << 2 * shifts`` later. ``parents`` int32[c]: the
    smallest cell around each cell, -1 if there is none. The entries of cell i are ``first[i]`` to ``first[i + 1]`` of
    ``places``, the numbers of shapes, and of ``entry_flags``, the states of the shapes in the cell
    (:mod:`asc.spatial.cover`). Some cells of large shapes have a list of near edges with a spot
    (:class:`asc.spatial.cell_edges.NearEdges`). List n is ``edges[near_first[n]:near_first[n + 1]]``, with ``spots[n]``
    and ``inside[n]``.

    Invariant: cells nest or are disjoint. If a position satisfies the test of a shape, a cell around the position has
    an entry of the shape, whose state for the position's sixteenth is not empty. If the position's cell or sixteenth is
    full according to an entry, the position satisfies the test of its shape. Cost: about ten cells for each shape, and
    25 bytes for each cell. A look-up of a position is a binary search, and a walk through the cells around the
    position.

    An R-tree was rejected, because its boxes overlap: for 100,000 shapes, the look-up of a position takes three times
    as long. A grid of one cell size was rejected, because shapes have all sizes.
    """

    square: Reals
    starts: Longs
    shifts: npt.NDArray[np.uint8]
    parents: Integers
    first: Integers
    places: Integers
    entry_flags: Integers = field(metadata={STORED: "told"})
    near_first: Longs
    edges: Integers
    spots: Reals
    inside: npt.NDArray[np.bool_]

    @staticmethod
    def of(shapes: Shapes, wanted: Integers) -> ShapeIndex:
        """Return the index of the shapes with the numbers ``wanted``. The caller ensures that all of these have the
        same crs.
        """
        is_planar = len(wanted) > 0 and shapes.words[shapes.bases[wanted[0]] + KIND_WORD] >> 8 == PLANAR
        square = _square(shapes, wanted) if is_planar else _degrees()
        near = NearEdges()
        starts, shifts, places, entry_flags = _with_large(shapes, square, _covered(shapes, wanted, square), near)
        order = np.argsort(starts << 5 | (LEVELS - shifts.astype(np.int64)), kind="stable")
        starts, shifts = starts[order], shifts[order]
        is_first = np.ones(len(starts), dtype=np.bool_)
        is_first[1:] = (np.diff(starts) != 0) | (shifts[1:] != shifts[:-1])
        heads = np.flatnonzero(is_first)
        cells, sizes = starts[heads], shifts[heads]
        parents = np.empty(len(cells), dtype=np.int32)
        find_parents(cells, sizes, parents)
        edges = [np.empty(0, dtype=np.int32), *near.edges]
        has_turns = float((entry_flags >> TURN_BITS & 3).any())
        return ShapeIndex(
            frozen(np.append(square, has_turns)),
            frozen(cells),
            frozen(sizes),
            frozen(parents),
            frozen(np.append(heads, len(starts)).astype(np.int32)),
            frozen(places[order]),
            frozen(entry_flags[order]),
            frozen(np.cumsum([0, *map(len, near.edges)], dtype=np.int64)),
            frozen(np.concatenate(edges)),
            frozen(np.array(near.spots, dtype=np.float64).reshape(-1, 2)),
            frozen(np.array(near.inside, dtype=np.bool_)),
        )

    @cached_property
    def arguments(self) -> IndexArrays:
        """The arrays as kernels read them. They are cached, because each batch reads them."""
        return IndexArrays(*arrays_of(self).values())

    @property
    def has_turns(self) -> bool:
        """True if a shape may have entries at several turns of the earth, so that a position may find the shape
        twice.
        """
        return bool(self.square[-1])

    def shapes_around(self, key: int) -> Integers:
        """Return the sorted numbers of the shapes that have an entry in a cell around a position. ``key``: the position
        in the Z-order, as :meth:`cell_keys` returns it.
        """
        cell = cell_before(self.starts, key, 0) if key >= 0 else -1
        found = [self.places[:0]]
        while cell >= 0:
            if key < int(self.starts[cell]) + (1 << 2 * int(self.shifts[cell])):
                found.append(self.places[self.first[cell] : self.first[cell + 1]])
            cell = int(self.parents[cell])
        return np.unique(np.concatenate(found))

    def cell_keys(self, x: Reals, y: Reals) -> Longs:
        """Return the index in the Z-order of the smallest cell around each position; -1 if the position is outside of
        the square or NaN.
        """
        keys = np.empty(len(x), dtype=np.int64)
        find_keys(self.square, x, y, keys)
        return keys


def _degrees() -> Reals:
    """Return the array ``square`` (:class:`ShapeIndex`) of an index of the whole earth, in degrees."""
    scales = SIDE / 360.0, SIDE / 180.0
    return np.array([-180.0, 180.0, -90.0, 90.0, -180.0, scales[0], -90.0, scales[1], *_slack(scales, 540.0, 90.0)])


def _square(shapes: Shapes, wanted: Integers) -> Reals:
    """Return the array ``square`` (:class:`ShapeIndex`) of an index in the plane, for a square that contains most of
    the shapes ``wanted``. Positions outside of the square belong to its outermost cells.
    """
    boxes = np.empty((len(wanted), 4))
    some = [box_of(shapes.words, shapes.reals, shapes.bases[n], box) for n, box in zip(wanted, boxes, strict=True)]
    boxes = boxes[np.array(some, dtype=np.bool_)]
    if not len(boxes):
        return _degrees()
    sides = [_side(boxes[:, 2 * axis], boxes[:, 2 * axis + 1]) for axis in (0, 1)]
    far = [max(abs(start), abs(start + width)) for start, width in sides]
    # Shapes without extent, such as one point, still need cells that are larger than rounding errors, and a finite
    # scale.
    scales = [SIDE / max(width, 1e-12 * own, _LEAST_WIDTH) for (_, width), own in zip(sides, far, strict=True)]
    ends = boxes[:, 0].min(), boxes[:, 1].max(), boxes[:, 2].min(), boxes[:, 3].max()
    return np.array([*ends, sides[0][0], scales[0], sides[1][0], scales[1], *_slack(scales, *far)])


def _side(least: Reals, greatest: Reals) -> tuple[float, float]:
    """Return the start and the length of a side of the square. ``least``, ``greatest``: the two ends of each shape
    along this side.

    The side spans all shapes, but has a bound: _USUAL_SIDES times the usual length of a shape. With a longer side,
    cells would be too coarse to separate the shapes. A side of that bound is placed where it contains the most
    midpoints of shapes.
    """
    start, width = float(least.min()), float(greatest.max() - least.min())
    middles = np.sort(least / 2 + greatest / 2)
    quarter, rest = middles[[len(middles) // 4, 3 * len(middles) // 4]].tolist()
    # The median length of points is 0. Then the mean distance between them is the usual length.
    usual = max(float(np.median(greatest - least)), (rest - quarter) / len(middles))
    longest = usual * _USUAL_SIDES
    if width <= longest:
        return start, width
    counts = np.searchsorted(middles, middles + longest, side="right") - np.arange(len(middles))
    first = int(np.argmax(counts))
    middle = float(middles[first] / 2 + middles[first + counts[first] - 1] / 2)
    return middle - longest / 2, longest


def _slack(scales: Sequence[float], far_x: float, far_y: float) -> list[float]:
    """Return the amounts by which a cell is enlarged on each side in x and in y: a millionth of the smallest cell, plus
    all rounding errors. ``far_x``, ``far_y``: the greatest coordinates.
    """
    rounded = 16 * float(np.finfo(np.float64).eps)
    return [1e-6 / scale + rounded * far for scale, far in zip(scales, (far_x, far_y), strict=True)]


def _covered(shapes: Shapes, wanted: Integers, square: Reals) -> EntryArrays:
    capacity = _CELLS_A_SHAPE * len(wanted) + (ACROSS + 2) ** 2 * 3
    starts, shifts = np.empty(capacity, dtype=np.int64), np.empty(capacity, dtype=np.uint8)
    entries = EntryArrays(starts, shifts, *np.empty((2, capacity), dtype=np.int32))
    done, count = 0, 0
    while True:
        done, count = cover_shapes(shapes.arguments, wanted, done, square, entries, count)
        if done == len(wanted):
            return EntryArrays(*(own[:count] for own in entries))
        entries = EntryArrays(*(np.concatenate([own, own]) for own in entries))


def _with_large(shapes: Shapes, square: Reals, entries: EntryArrays, near: NearEdges) -> EntryArrays:
    """Return the entries, with the partial cells of large shapes divided further. ``near``: receives the lists of near
    edges of the divided cells.
    """
    starts, shifts, places, entry_flags = entries
    words, bases = shapes.words, shapes.bases[places]
    rings = words[bases + RINGS_WORD]
    ends = words[np.maximum(bases + HEAD_WORDS + rings - 1, 0)] >> 1
    is_large = (ends >= LARGE) & (entry_flags & FULL == 0) & (words[bases + RELATION_WORD] <= WITHIN_DISTANCE)
    if not is_large.any():
        return entries
    which = np.flatnonzero(is_large)
    which = which[np.argsort(places[which], kind="stable")]
    made: list[tuple[int, int, int, int]] = []
    for entries_of_shape in np.split(which, np.flatnonzero(np.diff(places[which])) + 1):
        number = int(places[entries_of_shape[0]])
        cells = list(_cells(starts[entries_of_shape], shifts[entries_of_shape], entry_flags[entries_of_shape]))
        large = LargeShape(words, shapes.reals, int(shapes.bases[number]), square)
        for start, shift, says in large.cells(cells, near):
            made.append((start, shift, number, says))
    others = ~is_large
    more = np.array(made, dtype=np.int64).reshape(-1, 4).T
    return EntryArrays(
        starts=np.concatenate([starts[others], more[0]]),
        shifts=np.concatenate([shifts[others], more[1].astype(np.uint8)]),
        places=np.concatenate([places[others], more[2].astype(np.int32)]),
        entry_flags=np.concatenate([entry_flags[others], more[3].astype(np.int32)]),
    )


def _cells(starts: Longs, shifts: npt.NDArray[np.uint8], entry_flags: Integers) -> Iterator[tuple[int, int, int, int]]:
    for start, shift, says in zip(starts.tolist(), shifts.tolist(), entry_flags.tolist(), strict=True):
        place = start >> (2 * shift)
        yield shift, _every_other(place), _every_other(place >> 1), says >> TURN_BITS & 3


def _every_other(place: int) -> int:
    return sum((place >> (2 * bit) & 1) << bit for bit in range(LEVELS))
