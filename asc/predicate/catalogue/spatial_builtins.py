"""The functions of shapes and positions, as entries of the list of built-in functions."""

from __future__ import annotations

from asc.predicate.catalogue.builtins import Builtin

_OF_NULL = "NULL, and so is its NOT; also for a position that is not on the earth"
_SHAPE = "a constant shape"
_ROWS: tuple[tuple[str, str, str], ...] = (
    ("st_contains", "shape, position", "in its interior"),
    ("st_within", "position, shape", "in its interior"),
    ("st_covers", "shape, position", "in its interior or on its boundary"),
    ("st_coveredby", "position, shape", "in its interior or on its boundary"),
    ("st_intersects", "shape, position", "in its interior or on its boundary"),
    ("st_touches", "shape, position", "on its boundary"),
    ("st_disjoint", "shape, position", "neither in its interior nor on its boundary"),
    ("st_dwithin", "shape, position, distance", "within this distance in the plane"),
    ("st_distancesphere", "point, position", "metres on the sphere; compare with a constant by <, <=, > or >="),
    ("st_point", "x, y", "a position from two numbers of the record, or a point from two constants"),
    ("st_geomfromtext", "string", f"{_SHAPE} from WKT"),
    ("st_geomfromgeojson", "string", f"{_SHAPE} from GeoJSON"),
    ("st_polygonfromenvelope", "x1, y1, x2, y2", f"a rectangle: {_SHAPE}, or a box of the record"),
    ("st_expand", "position, dx, dy", "a box around a position of the record"),
    ("shape", "layer, id", f"{_SHAPE} of a layer, by its id"),
)
_SQUARE = "ST_PolygonFromEnvelope(0, 0, 4, 4)"
_POSITION = "ST_Point(lon, lat)"
_EXAMPLES = {
    "st_contains": f"ST_Contains({_SQUARE}, {_POSITION})",
    "st_within": f"ST_Within({_POSITION}, {_SQUARE})",
    "st_covers": f"ST_Covers({_SQUARE}, {_POSITION})",
    "st_coveredby": f"ST_CoveredBy({_POSITION}, {_SQUARE})",
    "st_intersects": f"ST_Intersects({_SQUARE}, {_POSITION})",
    "st_touches": f"ST_Touches({_SQUARE}, {_POSITION})",
    "st_disjoint": f"ST_Disjoint({_SQUARE}, {_POSITION})",
    "st_dwithin": f"ST_DWithin({_SQUARE}, {_POSITION}, 0.5)",
    "st_distancesphere": f"ST_DistanceSphere(ST_Point(8.55, 47.45), {_POSITION}) <= 5000",
    "st_point": f"ST_Contains({_SQUARE}, {_POSITION})",
    "st_geomfromtext": f"ST_Contains(ST_GeomFromText('POLYGON((0 0,4 0,4 4,0 0))'), {_POSITION})",
    "st_geomfromgeojson": (
        f"""ST_Intersects(ST_GeomFromGeoJSON('{{"type":"Point","coordinates":[1,2]}}'), {_POSITION})"""
    ),
    "st_expand": f"ST_Intersects({_SQUARE}, ST_Expand({_POSITION}, 0.1, 0.1))",
    "st_polygonfromenvelope": f"ST_Contains({_SQUARE}, {_POSITION})",
    "shape": f"ST_Contains(shape('zones', 'old-town'), {_POSITION})",
}


def spatial_builtins() -> list[Builtin]:
    """Return the functions of shapes and positions. The engine evaluates these functions; Spark does not have them."""
    return [
        Builtin(name, True, arguments, f"evaluated by the engine: {verdict}", _EXAMPLES[name], _OF_NULL)
        for name, arguments, verdict in _ROWS
    ]
