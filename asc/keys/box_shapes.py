"""Sets of shapes that are matched with the boxes of one p-attribute."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import arrays_of, frozen
from asc.keys.dictionary import Dictionary
from asc.keys.positions import coordinates
from asc.spatial.index import Shapes
from asc.spatial.shape import WGS84, WITHIN_DISTANCE, Asked

if TYPE_CHECKING:
    from shapely import STRtree

Integers = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ShapesOfBoxes:
    """Shapes with which boxes are matched, and the labels of the shapes in the dictionary of a plan.

    ``offsets``, ``data`` and ``labels`` are as in :class:`asc.keys.shapes.ShapeSet`. A box is looked up in a tree of
    the bounding boxes of all shapes (shapely's STRtree). GEOS then decides about each shape whose bounding box meets
    the box. Cost: all shapes are decoded when the first boxes arrive. Each box costs one look-up in the tree and one
    call of GEOS for each candidate shape.
    """

    offsets: Longs
    data: npt.NDArray[np.uint8]
    labels: Integers

    @staticmethod
    def of(dictionary: Dictionary) -> ShapesOfBoxes:
        """Return the shapes whose keys are the constants of a dictionary."""
        return ShapesOfBoxes(dictionary.offsets, dictionary.data, frozen(dictionary.labels.astype(np.int32)))

    def with_constants(self, keys: Iterable[bytes], dictionary: Dictionary) -> ShapesOfBoxes:
        """Return these shapes together with further ones. ``keys``: the keys of the further shapes. The caller ensures
        that ``dictionary`` already has these keys.
        """
        return self if len(dictionary) == len(self) else ShapesOfBoxes.of(dictionary)

    def relabelled(self, dictionary: Dictionary) -> ShapesOfBoxes:
        """Return the shapes with their labels in another dictionary, which may have more constants."""
        return ShapesOfBoxes.of(dictionary)

    def __len__(self) -> int:
        """Return the number of shapes."""
        return len(self.labels)

    @property
    def sets(self) -> tuple[ShapesOfBoxes, ...]:
        """The parts in which the set is sent to Spark's Python workers: only the set itself."""
        return (self,)

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return arrays_of(self)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())

    @cached_property
    def _asked(self) -> list[Asked]:
        shapes = Shapes.of(self.offsets, self.data)
        return [Asked.of(shapes.key(number)) for number in range(len(self))]

    @cached_property
    def _tree(self) -> STRtree:
        import shapely

        return shapely.STRtree(np.array([_reach(one) for one in self._asked], dtype=object))

    def find(self, values: pa.Array) -> tuple[Longs, Integers]:
        """Return the shapes whose keys each box satisfies, in the form of :meth:`asc.keys.shapes.ShapeSet.find`. The
        caller ensures that no box is NULL.
        """
        import shapely

        asked, tree = self._asked, self._tree
        x1, y1, x2, y2 = coordinates(values)
        turns = (0.0, -360.0, 360.0) if any(one.crs == WGS84 for one in asked) else (0.0,)
        pairs = np.empty((2, 0), dtype=np.int64)
        for turn in turns:
            boxes = shapely.box(x1 + turn, y1, x2 + turn, y2)
            pairs = np.concatenate([pairs, tree.query(boxes)], axis=1)
        near = np.unique(pairs[0] << 32 | pairs[1])
        rows, numbers = near >> 32, near & 0xFFFFFFFF
        corners = zip(x1[rows].tolist(), y1[rows].tolist(), x2[rows].tolist(), y2[rows].tolist(), strict=True)
        holds = [asked[n].accepts(*corner) for n, corner in zip(numbers.tolist(), corners, strict=True)]
        keep = np.array(holds, dtype=np.bool_)
        ends = np.zeros(len(values) + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows[keep], minlength=len(values)), out=ends[1:])
        return ends, self.labels[numbers[keep]]


def _reach(asked: Asked) -> Any:
    """Return a box that contains all points that may have the relation to the shape: its bounding box, enlarged by the
    distance. Return None if the shape is empty.
    """
    import shapely

    if asked.geometry.is_empty:
        return None
    far = asked.distance * (1 + 1e-9) + 1e-9 if asked.relation == WITHIN_DISTANCE else 0.0
    x1, y1, x2, y2 = asked.geometry.bounds
    return shapely.box(x1 - far, y1 - far, x2 + far, y2 + far)
