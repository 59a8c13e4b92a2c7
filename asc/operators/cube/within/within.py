"""The field ``within`` of a question: a geohash dimension, and the scope with which its cells are compared."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asc.errors import CubeError
from asc.operators.cube.computed.geohash import Geohash
from asc.operators.cube.computed.geohash_text import BITS_MAX, number_of_text
from asc.operators.cube.cuboid import Levels
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.within.box_scope import BoxScope
from asc.operators.cube.within.cell_scope import CellScope
from asc.operators.cube.within.scope import Scope
from asc.operators.cube.within.shape_scope import ShapeScope
from asc.spark_types import folded

GEOHASHES_MAX = 10_000
"""The largest number of geohashes in the scope of a question."""

INSIDE_NAME, TOUCHED_NAME = WITHIN_MEASURES = ("inside", "touched")
"""The names of two measures of an answer: the number of records in cells inside the scope, and in cells that only touch
it.
"""

_FORM = "give a box as [west, south, east, north], a list of geohashes as ['dr5'], or a GeoJSON Polygon"
_SHOWN_CHARS = 100


@dataclass(frozen=True, slots=True)
class Within:
    """A scope, and the geohash dimension whose cells it classifies.

    ``place``: the index of the dimension among the hierarchies of the cube. ``first``: the index of the dimension's
    coarsest level among the expressions of all levels. ``bits``: the number of bits of each of its levels.
    """

    place: int
    first: int
    bits: tuple[int, ...]
    scope: Scope

    @staticmethod
    def of(plain: object, definition: CubeDefinition) -> Within | None:
        """Return the scope in a JSON value. Return None for the value null. Raise CubeError if the value is no valid
        scope.
        """
        if plain is None:
            return None
        name = None
        if isinstance(plain, Mapping) and plain.keys() == {"dimension", "scope"}:
            name, plain = plain["dimension"], plain["scope"]
        dimension = _dimension(name, plain, definition)
        place = definition.dimensions.hierarchies.index(dimension.levels)
        first = definition.dimensions.names.index(dimension.levels[0])
        return Within(place, first, dimension.bits, _scope(plain))

    def exact(self, wanted: Levels, kept: Levels) -> Levels:
        """Return the cuboid ``wanted`` with the finest stored level of the geohash dimension, because finer cells give
        a more exact answer. ``kept``: a stored cuboid.
        """
        return (*wanted[: self.place], max(wanted[self.place], kept[self.place]), *wanted[self.place + 1 :])


def _dimension(name: object, plain: object, definition: CubeDefinition) -> Geohash:
    """Return the geohash dimension with a name; without a name, the only one. Raise CubeError if there is none, or if
    there are several.
    """
    known = [own for own in definition.computed if isinstance(own, Geohash)]
    shown = ", ".join(own.name for own in known)
    if not known:
        raise CubeError("within", _shown(plain), "needs a dimension geohash(lat, lon, bits), and the cube has none")
    if name is not None:
        found = next((own for own in known if isinstance(name, str) and folded(own.name) == folded(name)), None)
        if found is None:
            raise CubeError("within", _shown(name), f"is no dimension of geohashes: the cube has {shown}")
        return found
    if len(known) > 1:
        remedy = f"may be of several dimensions, {shown}: name one, as {{'dimension': '{known[0].name}', 'scope': ...}}"
        raise CubeError("within", _shown(plain), remedy)
    return known[0]


def _scope(plain: object) -> Scope:
    if isinstance(plain, Mapping):
        return ShapeScope.of(plain)
    if not isinstance(plain, Sequence) or isinstance(plain, str) or not plain:
        raise CubeError("within", _shown(plain), _FORM)
    if len(plain) > GEOHASHES_MAX:
        raise CubeError("within", len(plain), f"a scope has at most {GEOHASHES_MAX:,} geohashes: give coarser ones")
    if all(isinstance(own, str) for own in plain):
        return CellScope.of([_geohash(text) for text in plain])
    return _box(plain)


def _geohash(text: str) -> tuple[int, int]:
    found = number_of_text(text.strip())
    if found is None:
        remedy = f"is no geohash of 1 to {BITS_MAX} bits: give characters of base 32, and bits after a point, as dr.01"
        raise CubeError("within", text[:_SHOWN_CHARS], remedy)
    return found


def _box(plain: Sequence[object]) -> BoxScope:
    numbers = [float(own) for own in plain if isinstance(own, int | float) and not isinstance(own, bool)]
    if len(numbers) != 4 or len(plain) != 4 or not all(map(math.isfinite, numbers)):
        raise CubeError("within", _shown(plain), _FORM)
    west, south, east, north = numbers
    if not (abs(south) <= 90 and abs(north) <= 90 and abs(west) <= 180 and abs(east) <= 180):
        remedy = (
            "is out of range: give longitudes from -180 to 180 and latitudes from -90 to 90, as west, south, east, "
        )
        raise CubeError("within", _shown(plain), f"{remedy}north; over the antimeridian, west is greater than east")
    if south > north:
        raise CubeError("within", _shown(plain), "has its south above its north: give west, south, east, north")
    return BoxScope(west, south, east, north)


def _shown(plain: Any) -> str:
    text = plain if isinstance(plain, str) else json.dumps(plain, default=str)
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 3]}..."
