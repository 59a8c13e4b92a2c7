"""Geohashes as a computed dimension of cubes: the cells that contain the positions of records. Each level has its
number of bits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow as pa

from asc.errors import CubeError
from asc.operators.cube.computed.call import Call
from asc.operators.cube.computed.geohash_text import BITS_MAX
from asc.predicate.expressions.types import name as type_name

if TYPE_CHECKING:
    from asc.operators.cube.keys import Key

DEFAULT_NAME = "geo"

_FORM = f"write geohash(latitude, longitude, bits) with levels of 1 to {BITS_MAX} bits, as geohash(lat, lon, 10 > 20)"
_WARNED_SHARE = 0.01
"""The share of positions out of range above which a warning says that latitude and longitude may be exchanged."""
_BITS = re.compile(r"[0-9]{1,2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Geohash:
    """The geohashes of positions, as a dimension.

    ``latitude``, ``longitude``: expressions in degrees. ``bits``: the number of bits of each level, ascending. A
    position that is NULL, NaN or out of range has the key NULL. The keys are texts. Texts of one level have the same
    length, and sort as the numbers of their cells.
    """

    latitude: str
    longitude: str
    bits: tuple[int, ...]
    name: str = DEFAULT_NAME

    @staticmethod
    def of(call: Call) -> Geohash:
        """Return the dimension of a call. Raise CubeError if its arguments are refused."""
        if len(call.arguments) != 3 or not all(call.arguments):
            call.fail(f"has {len([text for text in call.arguments if text])} of three arguments: {_FORM}")
        latitude, longitude, levels = call.arguments
        texts = [text.strip() for text in levels.split(">")]
        if not all(_BITS.fullmatch(text) and 1 <= int(text) <= BITS_MAX for text in texts):
            call.fail(f"has the levels {levels!r}: {_FORM}")
        bits = tuple(map(int, texts))
        if any(finer <= coarser for coarser, finer in pairwise(bits)):
            call.fail(f"has the levels {levels!r}, no order from coarse to fine: give more bits to each next one")
        if latitude == longitude:
            call.fail(f"has one expression for both coordinates: {_FORM}")
        return Geohash(latitude, longitude, bits, call.name or DEFAULT_NAME)

    @property
    def text(self) -> str:
        """Return the text of the dimension in a normal form, which is the same for all spellings of the dimension."""
        levels = " > ".join(map(str, self.bits))
        return f"geohash({self.latitude}, {self.longitude}, {levels}) AS {self.name}"

    @property
    def summary(self) -> str:
        """Return the text of the dimension, as it contains nothing that a sample decided."""
        return self.text

    @property
    def needs_moments(self) -> bool:
        """Return False: cells store no co-moments of the coordinates."""
        return False

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return no warning: a warning needs a sample of positions, see :meth:`warning`."""
        return ()

    @property
    def levels(self) -> tuple[str, ...]:
        """Return the names of the levels, such as ``geo:15``."""
        return tuple(f"{self.name}:{bits}" for bits in self.bits)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the latitude and the longitude."""
        return self.latitude, self.longitude

    @property
    def type(self) -> pa.DataType:
        """Return the type of the keys: texts."""
        return pa.string()

    def check(self, types: Sequence[pa.DataType | None]) -> None:
        """Raise CubeError if a coordinate is no number."""
        for sql, kind in zip(self.inputs, types, strict=True):
            is_number = kind is not None and (
                pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
            )
            if not is_number:
                remedy = f"takes coordinates in degrees, and {sql} is {type_name(kind)}: CAST it to DOUBLE"
                raise CubeError("dimension", self.text, remedy)

    def warning(self, columns: Sequence[pa.Array]) -> str | None:
        """Return a warning if over 1 % of the positions of a sample are out of range. Otherwise return None.
        ``columns``: the values of ``inputs`` in the sample.
        """
        from asc.operators.cube.computed.geohash_keys import share_out_of_range

        share = share_out_of_range(columns[0], columns[1])
        if share <= _WARNED_SHARE:
            return None
        detail = f"{share:.1%} of the positions are out of range, which are counted as NULL"
        return f"dimension {self.text!r}: {detail}: the latitude comes first, then the longitude"

    def keys(self, columns: Sequence[pa.Array]) -> tuple[Key, ...]:
        """Return the key of each level."""
        # Import the kernels here, so that a definition can be read without them.
        from asc.operators.cube.computed.geohash_keys import geohash_keys

        return geohash_keys(columns[0], columns[1], self.bits)
