"""Readers of constant shapes in WKT, in GeoJSON and as envelopes (rectangles), and the checks that refuse some of these
shapes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asc.errors import ShapeError
from asc.nesting import JSON_LEVELS_MAX, WKT_LEVELS_MAX, json_levels, wkt_levels
from asc.spatial.properties import NO_PROPERTIES, Properties

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from shapely.geometry.base import BaseGeometry

VERTICES_MAX = 1_000_000
"""The most vertices of a shape."""

VALIDITY_EFFORT_MAX = 1 << 25
"""The greatest permitted effort of GEOS's test whether a shape is valid, in pairs of edges to compare. A test of this
effort takes some seconds.
"""

COORDINATE_MAX = 1e100
"""The greatest coordinate in the plane; the product of greater coordinates may overflow."""

_REASON = re.compile(r"(.*)\[(.*)\]")
_WIDE, _AROUND, _POLE = 180.0, 360.0, 90.0

_PLAIN_VERTICES = 1_024
"""The most vertices of a shape that GEOS always validates within a tenth of a second."""

_KINDS = (0, 1, 3, 4, 5, 6)
"""The geometry types of GEOS that are accepted: points, lines and polygons, single or multiple; no rings, no
collections.
"""


@dataclass(frozen=True, slots=True)
class Read:
    """An accepted shape, and warnings for the user, such as a repair of the shape or an empty shape."""

    geometry: BaseGeometry
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that shapes are checked against: the crs, and the faults that are allowed.

    ``allow_edges_over_180_deg``: whether edges may be longer than half a turn. ``repairs``: whether a shape that GEOS
    finds invalid is repaired, with a warning. ``properties``: the types of the properties of Features.
    """

    is_planar: bool = False
    allow_edges_over_180_deg: bool = False
    repairs: bool = False
    vertices_max: int = VERTICES_MAX
    properties: Properties = NO_PROPERTIES


_RULES = Rules()


def of_wkt(text: str, rules: Rules = _RULES) -> Read:
    """Return the shape of a WKT text. Raise ShapeError if the text is not WKT or the shape is refused."""
    import numpy as np
    import shapely

    if text.lstrip()[:5].upper() == "SRID=":
        raise ShapeError("shape", _shown(text), "write it without SRID: coordinates are longitude and latitude")
    # GEOS goes one call deeper for each collection in another, and would overflow the stack of this process.
    if wkt_levels(text) > WKT_LEVELS_MAX:
        raise ShapeError("WKT", _shown(text), f"is nested deeper than {WKT_LEVELS_MAX} levels")
    try:
        # A number beyond a double is infinite, and refused below.
        with np.errstate(over="ignore"):
            found = shapely.from_wkt(text)
    except (shapely.GEOSException, ValueError, NotImplementedError) as error:
        raise ShapeError("WKT", _shown(text), _said(error)) from None
    return checked(found, rules)


def of_geojson(text: str, rules: Rules = _RULES) -> Read:
    """Return the shape of a GeoJSON geometry or Feature. Raise ShapeError if the text is neither, or the shape is
    refused.
    """
    import numpy as np
    import shapely

    check_geojson(text)
    try:
        with np.errstate(over="ignore"):
            found = shapely.from_geojson(text)
    except (shapely.GEOSException, ValueError, NotImplementedError) as error:
        raise ShapeError("GeoJSON", _shown(text), _said(error)) from None
    return checked(found, rules)


def check_geojson(text: str) -> None:
    """Raise ShapeError for a text that is nested too deep for recursive readers, such as GEOS."""
    if json_levels(text) > JSON_LEVELS_MAX:
        raise too_deep(text)


def too_deep(text: str) -> ShapeError:
    """Return the error for a text that is nested too deep."""
    return ShapeError("GeoJSON", _shown(text), f"is nested deeper than {JSON_LEVELS_MAX} levels")


def of_envelope(corners: Sequence[float], rules: Rules = _RULES) -> Read:
    """Return the rectangle with the corners (x1, y1) and (x2, y2). Raise ShapeError unless the second corner is above
    the first corner and to the right of it.
    """
    import shapely

    x1, y1, x2, y2 = corners
    if not (x1 < x2 and y1 < y2):
        remedy = "give the least x and y, then the greatest: x1 < x2, y1 < y2 (190 for -170, beyond the antimeridian)"
        raise ShapeError("envelope", ", ".join(map(repr, corners)), remedy)
    return checked(shapely.box(x1, y1, x2, y2), rules)


def checked(shape: BaseGeometry | None, rules: Rules = _RULES) -> Read:
    """Check a shape by some rules, and return it without its heights (Z). The result has a warning if the shape had
    heights, is empty, or was repaired.

    Raise ShapeError for a collection, for invalid coordinates, and for a shape whose validity would take GEOS too long
    to test. Also raise it for a shape that GEOS finds invalid, unless the rules permit a repair.
    """
    import shapely

    if shape is None:
        raise ShapeError("shape", "NULL", "write a geometry")
    if shape.geom_type not in ("Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon"):
        raise ShapeError("shape", shape.geom_type, "write a (Multi)Polygon, (Multi)LineString or (Multi)Point")
    count = int(shapely.get_num_coordinates(shape))
    if count > rules.vertices_max:
        raise ShapeError("vertices of a shape", count, f"at most {rules.vertices_max:,}: simplify it")
    warnings = []
    if shape.has_z or getattr(shape, "has_m", False):
        shape = shapely.force_2d(shape)
        warnings.append("the shape's third coordinate is ignored: positions have two")
    if shape.is_empty:
        warnings.append("the shape is empty: no position is in it, and none is near it")
        return Read(shape, tuple(warnings))
    _check_coordinates(shape, rules)
    _check_effort(shape, count)
    if not shape.is_valid:
        reason = shapely.is_valid_reason(shape)
        match = _REASON.fullmatch(reason)
        place = " ".join(f"{float(part):.8g}" for part in match[2].split()[:2]) if match else ""
        where = f"{match[1]} at {place}" if match else reason
        mended = _mended(shape) if rules.repairs else None
        if mended is None:
            raise ShapeError("invalid shape", where, "mend it, for instance with make_valid")
        warnings.append(f"mended: {where}; its area was {shape.area:.6g} and is {mended.area:.6g}")
        shape = mended
    return Read(shape, tuple(warnings))


def plainly_good(shapes: npt.NDArray[np.object_], rules: Rules) -> npt.NDArray[np.bool_]:
    """Return a mask of many shapes: True if :func:`checked` certainly accepts the shape without a warning. A missing
    shape (None) has False.

    The function :func:`checked` may also accept shapes for which the result is False. The mask takes less time.
    """
    import numpy as np
    import shapely

    good = np.isin(shapely.get_type_id(shapes), _KINDS) & ~shapely.is_empty(shapes) & ~shapely.has_z(shapes)
    good &= shapely.get_num_coordinates(shapes) <= min(rules.vertices_max, _PLAIN_VERTICES)
    x1, y1, x2, y2 = shapely.bounds(shapes).T
    if rules.is_planar:
        good &= np.abs([x1, y1, x2, y2]).max(axis=0) <= COORDINATE_MAX
    else:
        good &= (x1 >= -_AROUND) & (x2 <= _AROUND) & (y1 >= -_POLE) & (y2 <= _POLE) & (x2 - x1 <= _WIDE)
    good[good] = shapely.is_valid(shapes[good])
    return good


def _mended(shape: BaseGeometry) -> BaseGeometry | None:
    """Return an invalid shape as GEOS repairs it, without parts of a lower dimension, such as lines of a polygon.
    Return None if no part is left.
    """
    import shapely

    parts = shapely.get_parts(shapely.make_valid(shape, method="structure", keep_collapsed=False))
    kept = parts[(shapely.get_dimensions(parts) == shapely.get_dimensions(shape)) & ~shapely.is_empty(parts)]
    return None if not len(kept) else shapely.union_all(kept)


def _check_coordinates(shape: BaseGeometry, rules: Rules) -> None:
    import numpy as np
    import shapely

    places = shapely.get_coordinates(shape)
    if not np.isfinite(places).all() or (np.abs(places) > COORDINATE_MAX).any():
        raise ShapeError("shape", "a coordinate that is no finite number", f"at most {COORDINATE_MAX:g} on either side")
    if rules.is_planar:
        return
    beyond = places[np.abs(places[:, 1]) > _POLE]
    if len(beyond):
        raise ShapeError("latitude", float(beyond[0, 1]), "is beyond 90 degrees: longitude comes first (swapped?)")
    beyond = places[np.abs(places[:, 0]) >= 540]
    if len(beyond):
        raise ShapeError("longitude", float(beyond[0, 0]), "is more than a turn beyond 180 degrees")
    for part in shapely.get_parts(shape).tolist() if not rules.allow_edges_over_180_deg else ():
        for ring in [part.exterior, *part.interiors] if part.geom_type == "Polygon" else [part]:
            across = np.abs(np.diff(shapely.get_coordinates(ring)[:, 0]))
            wide = across[(across > _WIDE) & (across < _AROUND)]
            if len(wide):
                remedy = "write 190 for -170 where it crosses the antimeridian; else put a vertex between"
                raise ShapeError("edge over 180 degrees of longitude", float(wide[0]), remedy)


def _check_effort(shape: BaseGeometry, count: int) -> None:
    if count <= _PLAIN_VERTICES or shape.geom_type not in ("Polygon", "MultiPolygon"):
        return
    # These import compiled loops, which a caller that only parses does not need.
    from asc.spatial.validity_effort import validity_effort

    effort = validity_effort(shape)
    if effort > VALIDITY_EFFORT_MAX:
        remedy = (
            f"at most {VALIDITY_EFFORT_MAX:,}, to know whether it is valid: cut it into several shapes, or simplify it"
        )
        raise ShapeError("pairs of edges of a shape", effort, remedy)


def _said(error: Exception) -> str:
    """Return the message of a GEOS error in one line, without the name of the exception."""
    text = " ".join(str(error).split())
    return text.partition(": ")[2] or text


def _shown(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
