"""Translation of BBoxDB Streams query plans to predicates, for ``asc query add --bboxdb-plan``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from asc.spark_types import quoted_name
from asc.spatial.shape import EARTH_RADIUS_M
from broker.errors import InputError

POSITION = "ST_Point(longitude, latitude)"

_POINT_DEGREES = 0.0001
"""The distance within which BBoxDB's GeoJSON filter treats a point as intersecting a geometry, in degrees."""

_CHARS_MAX = 20_000
"""The longest SQL of a record's box, in characters: it becomes a part of a predicate, which may not be longer."""

_BY_HAND = "write the predicate out (asc query add --where)"

_THEIR_EQUATOR_M, _THEIR_POLES_M = 6_371_000.0, 6_356_800.0
_INTERVAL = re.compile(r"[\[(]\s*([^,\s]+)\s*,\s*([^\])\s]+)\s*[\])]")
_CALL = re.compile(r"\s*(ST_Point|ST_PolygonFromEnvelope)\s*\((.*)\)\s*", re.IGNORECASE | re.DOTALL)

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class TranslatedPlan:
    """A plan translated to a query: its predicate, the table of its stream, and ``warnings`` to print.

    ``layer``: the layer if the query is a join, otherwise None. ``events``: the events that the plan requests.
    """

    where: str
    stream: str
    layer: str | None = None
    events: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Tuple:
    """A record's bounding box while the transformations of a plan change it: for each dimension its low and high end,
    as Spark SQL. ``is_spatial``: the box has two dimensions (longitude and latitude, or x and y), and the plan compares
    it with shapes. ``terms``: the conditions so far.
    """

    ends: list[tuple[str, str]]
    is_spatial: bool
    terms: list[str] = field(default_factory=list)

    @property
    def sql(self) -> str:
        """The box as a position in Spark SQL: a point or an envelope."""
        (x1, x2), (y1, y2) = self.ends
        if (x1, y1) == (x2, y2):
            return f"ST_Point({x1}, {y1})"
        return f"ST_PolygonFromEnvelope({x1}, {y1}, {x2}, {y2})"

    def meets(self, box: Sequence[Interval]) -> str:
        """Return the condition that the record's box intersects a constant box."""
        if len(box) != len(self.ends):
            remedy = f"the record's box has {len(self.ends)}: name --dimension for each"
            raise InputError("dimensions of a box of the plan", len(box), remedy)
        if self.is_spatial:
            (x1, x2), (y1, y2) = box
            return f"ST_Intersects(ST_PolygonFromEnvelope({x1!r}, {y1!r}, {x2!r}, {y2!r}), {self.sql})"
        found = []
        for (low, high), (least, greatest) in zip(self.ends, box, strict=True):
            found.append(f"{low} <= {greatest!r}D AND {high} >= {least!r}D")
        return " AND ".join(found)

    def enlarge(self, by: Callable[[str, str], str]) -> None:
        """Move both ends of each dimension outwards. ``by`` returns the SQL of the distance, from the SQL of the low
        and of the high end.
        """
        self.ends = [(f"({low}) - {by(low, high)}", f"({high}) + {by(low, high)}") for low, high in self.ends]

    def enlarge_by_metres(self, lat_m: float, lon_m: float) -> None:
        """Extend the box by ``lat_m`` metres in latitude and ``lon_m`` metres in longitude, half of them at each side.
        The box ends at the poles and at the antimeridian.
        """
        (x1, x2), (y1, y2) = self.ends
        up = f"{math.degrees(lat_m / 2 / EARTH_RADIUS_M)!r}D"
        south, north = f"greatest(-90D, ({y1}) - {up})", f"least(90D, ({y2}) + {up})"
        # At a pole, the cosine is almost 0 (1e-17), so the box contains all longitudes.
        across = f"{math.degrees(lon_m / 2 / EARTH_RADIUS_M)!r}D / cos(radians(greatest(abs({south}), abs({north}))))"
        self.ends = [(f"greatest(-180D, ({x1}) - {across})", f"least(180D, ({x2}) + {across})"), (south, north)]

    def enlarge_by_metres_as_bboxdb(self, first_m: float, second_m: float) -> None:
        """Extend the box as BBoxDB's code does, with the cosine of the first dimension's low end."""
        (x1, x2), (y1, y2) = self.ends
        first = f"{first_m / 2 * 360 / _THEIR_EQUATOR_M!r}D / abs(cos(radians({x1})))"
        second = f"{second_m / 2 * 360 / _THEIR_POLES_M!r}D"
        self.ends = [(f"({x1}) - {first}", f"({x2}) + {first}"), (f"({y1}) - {second}", f"({y2}) + {second}")]


def translated(
    text: str, position: str | None, dimensions: Sequence[str] = (), *, as_bboxdb: bool = False
) -> TranslatedPlan:
    """Return a plan translated to a query. ``text``: the plan's JSON.

    ``position``: the position of a record, as ``ST_Point(x, y)`` or an envelope. ``dimensions``: the box of a record if
    the plan has other than two dimensions. Each dimension is an expression, or two expressions with a comma.
    ``as_bboxdb``: boxes are enlarged as BBoxDB's code does it, not as its paper says. Raise InputError for a text that
    is no plan, and for a part of a plan that has no counterpart.

    >>> plan = {"type": "query-plan", "query-type": "range-query", "stream-table": "g_ships", "report-positive": False,
    ...         "query-range": "[[0,9]:[0,9]]", "compare-rectangle": "[[3,4]:[3,4]]"}
    >>> print(translated(json.dumps(plan), "ST_Point(x, y)").where)
    ST_Intersects(ST_PolygonFromEnvelope(0.0, 0.0, 9.0, 9.0), ST_Point(x, y))
    AND NOT (ST_Intersects(ST_PolygonFromEnvelope(3.0, 3.0, 4.0, 4.0), ST_Point(x, y)))
    """
    plan = _document(text)
    box = _Tuple(_ends(position, dimensions), is_spatial=not dimensions)
    position_sql = box.sql if box.is_spatial else ""
    _ask(box, plan.get("query-range"))
    for step in _list(plan, "stream-filter"):
        box.terms.append(_stream_filter(step, position_sql))
    for step in _list(plan, "stream-transformations"):
        _transform(box, step, as_bboxdb=as_bboxdb)
        # Each enlargement repeats the former ends several times, so the text grows exponentially.
        if len(box.sql if box.is_spatial else str(box.ends)) > _CHARS_MAX:
            remedy = f"make a predicate of more than {_CHARS_MAX:,} characters: leave out some"
            raise InputError("stream-transformations", len(plan["stream-transformations"]), remedy)
    layer = None
    if plan["query-type"] == "join-query":
        layer = _table(plan, "join-table")
        box.terms += _joined(plan, layer, box, position_sql)
    else:
        is_positive = plan.get("report-positive", True)
        compared = _box(plan.get("compare-rectangle"))
        if compared:
            term = box.meets(compared)
            box.terms.append(term if is_positive else f"NOT ({term})")
        elif not is_positive:
            raise InputError("compare-rectangle", "[]", "outside of all of space is nothing: give a box")
    events, warnings = _events(plan)
    return TranslatedPlan(
        "\nAND ".join(box.terms) or "true", _table(plan, "stream-table"), layer, events, tuple(warnings)
    )


def _document(text: str) -> Mapping[str, Any]:
    try:
        plan = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("plan", text[:60], f"is no JSON: {error}") from None
    if not isinstance(plan, dict) or plan.get("type") != "query-plan":
        raise InputError("plan", text[:60], 'is no query plan of BBoxDB: its "type" is to be "query-plan"')
    if plan.get("query-type") not in ("range-query", "join-query"):
        raise InputError("query-type", str(plan.get("query-type"))[:60], "is to be range-query or join-query")
    return plan


def _ends(position: str | None, dimensions: Sequence[str]) -> list[tuple[str, str]]:
    if dimensions:
        if position is not None:
            raise InputError("--position", position, "goes without --dimension, which names the record's box")
        found = [_arguments(each) for each in dimensions]
        if any(len(each) not in (1, 2) for each in found):
            remedy = "give an expression, or two with a comma: its low end and its high end"
            raise InputError("--dimension", "; ".join(dimensions)[:200], remedy)
        return [(each[0], each[-1]) for each in found]
    call = _CALL.fullmatch(position or POSITION)
    parts = [] if call is None else _arguments(call[2])
    if call is None or len(parts) != (2 if call[1].casefold() == "st_point" else 4):
        remedy = "write ST_Point(x, y) or ST_PolygonFromEnvelope(x1, y1, x2, y2)"
        raise InputError("--position", position, remedy)
    x1, y1, x2, y2 = parts if len(parts) == 4 else (*parts, *parts)
    return [(x1, x2), (y1, y2)]


def _arguments(text: str) -> list[str]:
    """Return the parts of a text between commas, except for commas inside brackets and quotes.

    >>> _arguments("coalesce(a, 0), 'x,y'")
    ['coalesce(a, 0)', "'x,y'"]
    """
    arguments, depth, quote, start = [], 0, "", 0
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"`":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            arguments.append(text[start:place].strip())
            start = place + 1
    return [*arguments, text[start:].strip()]


def _box(value: object) -> list[Interval]:
    """Return the intervals of a box such as ``[[1.0,2.0]:[3.0,4.0]]``. Return none if the box is the whole space."""
    text = str(value or "[]")
    intervals = []
    for low, high in _INTERVAL.findall(text.strip()[1:-1]):
        try:
            ends = float(low), float(high)
        except ValueError:
            ends = (math.nan, math.nan)
        if not all(map(math.isfinite, ends)):
            raise InputError("box of the plan", text[:100], "its ends are to be finite numbers")
        intervals.append(ends)
    if not intervals and text.strip() not in ("[]", "[[]]"):
        raise InputError("box of the plan", text[:100], "is none: it is written [[1.0,2.0]:[3.0,4.0]]")
    return intervals


def _ask(record_box: _Tuple, value: object) -> None:
    box = _box(value)
    if box:
        record_box.terms.append(record_box.meets(box))


def _list(plan: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = plan.get(name) or []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise InputError(f"{name} of the plan", str(found)[:100], "is to be a list of objects")
    return found


def _table(plan: Mapping[str, Any], name: str) -> str:
    """Return a table's name without its group."""
    value = plan.get(name)
    if not isinstance(value, str) or not value:
        raise InputError(f"{name} of the plan", str(value)[:100], "is to be the name of a table")
    return value.partition("_")[2] or value


def _transform(box: _Tuple, step: Mapping[str, Any], *, as_bboxdb: bool) -> None:
    name, value = step.get("name"), str(step.get("value", ""))
    if name == "key-filter":
        box.terms.append(f"_key = {_quoted(value)}")
    elif name == "bbox-filter":
        _ask(box, value)
    elif name == "bbox-enlarge-by-amount":
        (amount,) = _numbers(name, value, 1)
        side = f"{amount if as_bboxdb else amount / 2!r}D"
        box.enlarge(lambda low, high: side)
    elif name == "bbox-enlarge-by-factor":
        (factor,) = _numbers(name, value, 1)
        share = f"{(factor - 1 if as_bboxdb else factor) / 2!r}D"
        box.enlarge(lambda low, high: f"{share} * (({high}) - ({low}))")
    elif name == "bbox-enlarge-by-wgs84":
        metres = _numbers(name, value, 2)
        if not box.is_spatial:
            raise InputError("transformation", name, "is of longitude and latitude: leave out --dimension")
        (box.enlarge_by_metres_as_bboxdb if as_bboxdb else box.enlarge_by_metres)(*metres)
    else:
        raise InputError("transformation", str(name)[:100], f"has no counterpart: {_BY_HAND}")


def _numbers(name: str, value: str, count: int) -> tuple[float, ...]:
    try:
        found = tuple(float(part) for part in value.split(","))
    except ValueError:
        found = ()
    if len(found) != count or not all(map(math.isfinite, found)):
        raise InputError(str(name), value[:100], f"is to have {count} finite number{'s' if count > 1 else ''}")
    return found


def _filter(one: Mapping[str, Any]) -> tuple[bool, str]:
    """Return whether a GeoJSON filter is strict, which the name of its class shows, and the filter's value."""
    name = str(one.get("filter-class", "")).rpartition(".")[2]
    if not re.fullmatch("UserDefinedGeoJsonSpatial(Strict)?Filter(Strict)?", name):
        raise InputError("filter", name[:100], f"has no counterpart, as those on GeoJSON have: {_BY_HAND}")
    return "Strict" in name, str(one.get("filter-value") or "")


def _stream_filter(step: Mapping[str, Any], position_sql: str) -> str:
    _, value = _filter(step)
    if not position_sql:
        raise InputError("filter", "on GeoJSON", "is of a position: leave out --dimension")
    return f"ST_Intersects(ST_GeomFromGeoJSON({_quoted(value)}), {position_sql})" if value else "true"


def _joined(plan: Mapping[str, Any], layer: str, box: _Tuple, position_sql: str) -> list[str]:
    if not box.is_spatial:
        raise InputError("query-type", "join-query", "is over shapes: leave out --dimension")
    if plan.get("report-positive") is False:
        raise InputError("report-positive", "false", "of a join is all other shapes: it has no counterpart")
    if _list(plan, "table-transformations"):
        remedy = "have no counterpart: put the shapes into the layer as they are to be"
        raise InputError("table-transformations", len(_list(plan, "table-transformations")), remedy)
    terms = [f"ST_Intersects({layer}.geometry, {box.sql})"]
    for step in _list(plan, "join-filter"):
        is_strict, value = _filter(step)
        key, separator, wanted = value.partition(":")
        if value and not separator:
            raise InputError("filter-value", value[:100], "is to be key:value, of a property of the layer")
        if separator:
            terms.append(f"{layer}.{quoted_name(key)} = {_quoted(wanted)}")
        is_point = position_sql.startswith("ST_Point")
        near = f"ST_DWithin({layer}.geometry, {position_sql}, {_POINT_DEGREES})"
        terms.append(near if is_point and not is_strict else f"ST_Intersects({layer}.geometry, {position_sql})")
    return terms


def _events(plan: Mapping[str, Any]) -> tuple[tuple[str, ...], list[str]]:
    """Return the events that correspond to a plan's invalidations, and the warnings."""
    warnings = []
    if plan.get("report-watermarks"):
        warnings.append("report-watermarks: watermarks are not delivered")
    lasting = plan.get("invalidate-state-after") or 0
    if not plan.get("report-invalidations"):
        return (), warnings
    if lasting:
        remedy = "is a number of watermarks, which have no time: an object is lost an hour after its last record"
        warnings.append(f"invalidate-state-after {lasting}: {remedy}")
    return (("enter", "exit", "lost") if lasting else ("enter", "exit")), warnings


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
