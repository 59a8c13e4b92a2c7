"""Sets of shapes with which the positions of one p-attribute are matched. They correspond to the sets of patterns with
which texts are matched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen, of_stored
from asc.keys.dictionary import Dictionary
from asc.keys.positions import coordinates
from asc.spatial.index import ShapeIndex, Shapes
from asc.spatial.search import ENTRIES, find_shapes
from asc.spatial.shape import Asked

Integers = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_INDEX = "index."


@dataclass(frozen=True, slots=True, eq=False)
class ShapeSet:
    """Shapes with their labels in the dictionary of a plan, and the index that finds the shapes for a position. A key
    has a shape together with the relation that a position must have to it.

    ``offsets`` int64[n + 1] and ``data`` uint8: the sorted keys of the shapes (:mod:`asc.spatial.shape`). ``labels``
    int32[n]. Cost: the keys and :class:`asc.spatial.index.ShapeIndex`; a change builds both again.
    """

    offsets: Longs
    data: npt.NDArray[np.uint8]
    labels: Integers
    index: ShapeIndex

    @staticmethod
    def of(dictionary: Dictionary) -> ShapeSet:
        """Return the shapes whose keys are the constants of a dictionary."""
        shapes = Shapes.of(dictionary.offsets, dictionary.data)
        index = ShapeIndex.of(shapes, np.arange(len(dictionary), dtype=np.int32))
        return ShapeSet(dictionary.offsets, dictionary.data, frozen(dictionary.labels.astype(np.int32)), index)

    @staticmethod
    def of_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> ShapeSet:
        """Return the set from its stored arrays, by the names that the property ``arrays`` uses."""
        index = {name.removeprefix(_INDEX): array for name, array in arrays.items() if name.startswith(_INDEX)}
        return ShapeSet(arrays["offsets"], arrays["data"], arrays["labels"], of_stored(ShapeIndex, index))

    def with_constants(self, keys: Iterable[bytes], dictionary: Dictionary) -> ShapeSet:
        """Return these shapes together with further ones. ``keys``: the keys of the further shapes. The caller ensures
        that ``dictionary`` already has these keys.
        """
        if len(dictionary) == len(self):
            return self
        return ShapeSet.of(dictionary)

    def relabelled(self, dictionary: Dictionary) -> ShapeSet:
        """Return the shapes with their labels in another dictionary, which may have more constants."""
        return ShapeSet.of(dictionary)

    def __len__(self) -> int:
        """Return the number of shapes."""
        return len(self.labels)

    @property
    def sets(self) -> tuple[ShapeSet, ...]:
        """The parts in which the set is sent to Spark's Python workers: only the set itself."""
        return (self,)

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"offsets": self.offsets, "data": self.data, "labels": self.labels, **self.index.arrays(_INDEX)}

    @property
    def nbytes(self) -> int:
        return self.offsets.nbytes + self.data.nbytes + self.labels.nbytes + self.index.nbytes

    def find(self, values: pa.Array) -> tuple[Longs, Integers]:
        """Return the shapes whose keys each position satisfies, as two arrays: offsets and labels. The caller ensures
        that no position is NULL.

        The labels of the shapes for position i are ``labels[offsets[i]:offsets[i + 1]]``, ascending. The offsets are
        int64[positions + 1].
        """
        x, y = coordinates(values)
        rows, numbers = found_shapes(Shapes.of(self.offsets, self.data), self.index, x, y)
        # Labels ascend as numbers do.
        order = np.lexsort((numbers, rows))
        ends = np.zeros(len(x) + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=len(x)), out=ends[1:])
        return ends, self.labels[numbers[order]]


def found_shapes(shapes: Shapes, index: ShapeIndex, x: Reals, y: Reals) -> tuple[Longs, Integers]:
    """Find the shapes whose keys each position satisfies. Return two arrays: for each pair found, the index of the
    position and the index of the shape.

    Each pair occurs once. The pairs are in no particular order.
    """
    assert len(x) < 1 << 27  # the search packs a row and more into one word
    keys = index.cell_keys(x, y)
    order = np.argsort(keys, kind="stable")
    keys, x, y = keys[order], x[order], y[order]
    ends = np.zeros(len(x), dtype=np.int64)
    entries = np.empty(ENTRIES, dtype=np.int64)
    met, row, count = np.empty(4 * len(x) + ENTRIES, dtype=np.int32), 0, 0
    while True:
        row, count = find_shapes(shapes.arguments, index.arguments, keys, x, y, entries, row, ends, met, count)
        if row == len(x):
            break
        if count + len(entries) > len(met):
            met = np.concatenate([met, np.empty_like(met)])
        else:
            entries = np.empty(2 * len(entries), dtype=np.int64)
    numbers, rows = met[:count], np.repeat(np.arange(len(x)), np.diff(ends, prepend=0))
    unsure = np.flatnonzero(numbers < 0)
    if len(unsure):
        holds = decided(shapes, ~numbers[unsure], x[rows[unsure]], y[rows[unsure]])
        keep = np.ones(count, dtype=np.bool_)
        keep[unsure[~holds]] = False
        numbers, rows = np.where(numbers < 0, ~numbers, numbers)[keep], rows[keep]
    if index.has_turns:
        # The search tries a position at several turns of the earth (longitude plus or minus 360 degrees), and may find
        # the same shape at two of them.
        pairs = np.unique(rows << 32 | numbers)
        rows, numbers = pairs >> 32, (pairs & 0xFFFFFFFF).astype(np.int32)
    return order[rows], numbers


def decided(shapes: Shapes, numbers: Integers, x: Reals, y: Reals) -> npt.NDArray[np.bool_]:
    """Return bool[n]: True if position i satisfies the key of shape ``numbers[i]``, by the exact reference test. It is
    for the pairs of position and shape that the kernels leave undecided.
    """
    holds = np.zeros(len(numbers), dtype=np.bool_)
    order = np.argsort(numbers, kind="stable")
    for own in np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1):
        asked = Asked.of(shapes.key(int(numbers[own[0]])))
        holds[own] = asked.decide(x[own], y[own])
    return holds
