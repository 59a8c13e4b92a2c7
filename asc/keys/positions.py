"""Keys of positions (points and boxes): two or four doubles, as bytes. Positions outside of the earth or the plane are
NULL.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.keys.buffers import Mask, null_mask
from asc.keys.dictionary import Dictionary
from asc.keys.domain import Domain
from asc.keys.grid import Keys
from asc.keys.key_space import KeySpace

DEGREES = pa.struct([("longitude", pa.float64()), ("latitude", pa.float64())])
"""The type of a position on the earth."""

PLANE = pa.struct([("x", pa.float64()), ("y", pa.float64())])
"""The type of a position in the plane."""

BOX_DEGREES = pa.struct([(name, pa.float64()) for name in ("west", "south", "east", "north")])
BOX_PLANE = pa.struct([(name, pa.float64()) for name in ("x1", "y1", "x2", "y2")])
"""The types of boxes on the earth (``BOX_DEGREES``) and in the plane (``BOX_PLANE``): the corner with the least
coordinates, and then the corner with the greatest.
"""

_ON_EARTH, _ANYWHERE = (180.0, 90.0), (math.inf, math.inf)
_BOUNDS = ((DEGREES, _ON_EARTH), (PLANE, _ANYWHERE), (BOX_DEGREES, _ON_EARTH), (BOX_PLANE, _ANYWHERE))

Reals = npt.NDArray[np.float64]


class Positions(KeySpace):
    """The key space of positions. Positions are matched with shapes and never compared, so the order of their keys has
    no meaning.

    A position is NULL if a part of it is NULL, NaN or infinite. A position in degrees is also NULL if its longitude is
    beyond 180 or its latitude beyond 90. A box is also NULL if its second corner is below or left of its first.
    """

    labelled: ClassVar[bool] = True

    def __init__(self, data_type: pa.DataType, bounds: tuple[float, float]) -> None:
        super().__init__(data_type, Domain(None, None, False))
        self._bounds = bounds

    @staticmethod
    def of(data_type: pa.DataType) -> Positions | None:
        return next((Positions(own, bounds) for own, bounds in _BOUNDS if own == data_type), None)

    def key(self, value: Any) -> bytes:
        return struct.pack(f"<{len(value)}d", *value)

    def key_of(self, scalar: pa.Scalar) -> bytes | None:
        """Return the key of a position. Return None if the position counts as NULL because of its coordinates."""
        parts = tuple(scalar.as_py().values())
        if None in parts or not self._are_known([np.array([part]) for part in parts])[0]:
            return None
        return self.key(parts)

    def text(self, key: bytes) -> str:
        parts = numbers_of(key)
        name = "ST_Point" if len(parts) == 2 else "ST_PolygonFromEnvelope"
        return f"{name}({', '.join(map(repr, parts))})"

    def readable(self, values: pa.Array) -> pa.Array | None:
        """Return the positions, with NULL instead of those that count as NULL because of their coordinates. Only the
        mask of NULLs is new. Return None if the array has another type.
        """
        if values.type != self.type:
            return None
        parts = [values.field(place) for place in range(self.type.num_fields)]
        known = self._are_known(coordinates(values))
        for part in (values, *parts):
            nulls = null_mask(part)
            if nulls is not None:
                known &= ~nulls
        if known.all():
            return values
        return pa.StructArray.from_arrays(parts, fields=list(self.type), mask=pa.array(~known))

    def write(self, values: pa.Array, dictionary: Dictionary, out: Keys) -> None:
        """Raise TypeError: positions have no ordered keys, because they are only matched with shapes, never
        compared.
        """
        raise TypeError(f"positions have no order: {len(values)} of them cannot be compared")

    def _are_known(self, parts: Sequence[Reals]) -> Mask:
        known: Mask = np.ones(len(parts[0]), dtype=np.bool_)
        for place, part in enumerate(parts):
            known &= np.isfinite(part) & (np.abs(part) <= self._bounds[place % 2])
        if len(parts) > 2:
            known &= (parts[0] <= parts[2]) & (parts[1] <= parts[3])
        return known


def numbers_of(key: bytes) -> tuple[float, ...]:
    """Return the numbers in a position's key: x and y, or x and y of both corners of a box."""
    return struct.unpack(f"<{len(key) // 8}d", key)


def coordinates(values: pa.Array) -> list[Reals]:
    """Return the coordinates of positions or boxes as read-only arrays, one for each coordinate. The coordinates of a
    NULL are arbitrary.
    """
    return [_reals(values.field(place)) for place in range(values.type.num_fields)]


def _reals(values: pa.Array) -> Reals:
    _, content = values.buffers()
    if content is None:
        return np.empty(0, dtype=np.float64)
    found = np.frombuffer(content, dtype=np.float64)[values.offset : values.offset + len(values)]
    found.setflags(write=False)
    return found
