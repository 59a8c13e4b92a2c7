"""Readers of layers in files: GeoJSON, GeoJSON with a Feature in each line, or CSV with WKT."""

from __future__ import annotations

import csv
import gzip
import io
import json
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from asc.errors import SchemaError, ShapeError
from asc.json_fault import json_fault
from asc.schema import CRSS, PLANAR, WGS84, properties_of_ddl
from asc.spatial.feature import Feature, feature_of_document
from asc.spatial.layer import Layer
from asc.spatial.reading import Rules, of_wkt

_WKT_COLUMNS = ("wkt", "geometry", "geom", "the_geom")
_GEOJSON, _LINES, _CSV = (".geojson", ".json"), (".ndjson", ".jsonl", ".geojsonl", ".geojsons"), (".csv",)
_DEGREES = ("CRS84", "4326")
_FIELD_BYTES_MAX = 1 << 27
_FIELD_LIMIT = threading.Lock()
"""A lock that is held while the field limit of :mod:`csv` is changed. The whole process shares this limit."""

_LINE_CHARS_MAX = 1 << 27
"""The most characters of a line; a shape of a million vertices has a third of this."""

_DOCUMENT_CHARS_MAX = 1 << 29
"""The most characters of a GeoJSON document, which is read as a whole."""

_WHOLE = "the file"
_LINES_REMEDY = "has more after its first JSON value: with a Feature a line, name it .ndjson (or .ndjson.gz)"

_WKT = "\0wkt"
"""The member of a row of CSV that has the shape as WKT; no member of a Feature has this name."""


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row of a file: its position and its id, with either its Feature or the reason for its refusal."""

    place: str
    id: str
    row: Feature | ShapeError


def read_layer(
    path: str | Path,
    *,
    id: str | None = None,  # noqa: A002 - the word that GeoJSON, and who asks, has for it
    crs: str = WGS84,
    repair: bool = False,
    allow_edges_over_180_deg: bool = False,
    properties: str = "",
) -> Layer:
    """Read the layer in a file, for :class:`asc.Matcher` and ``broker.match``.

    The file is GeoJSON (``.geojson``, ``.json``), GeoJSON with a Feature in each line (``.ndjson``, ``.jsonl``) or CSV
    with a column of WKT; also with ``.gz``.

    ``id``: the property, or column, that identifies a shape; by default a Feature's ``id`` member, else its property
    ``id``. ``crs``: the meaning of the coordinates, ``wgs84`` (degrees) or ``planar``. ``repair``: whether shapes that
    GEOS finds invalid are repaired; otherwise they are refused. ``allow_edges_over_180_deg``: whether edges may be
    longer than half a turn. ``properties``: the properties that joins can name, as Spark DDL. Raise ShapeError, with
    the position, for a refused row and for an id that occurs twice. Raise SchemaError if the properties are not DDL,
    and OSError if the file cannot be read.
    """
    if crs not in CRSS:
        raise ShapeError("crs", crs, f"write {' or '.join(CRSS)}")
    rules = Rules(crs == PLANAR, allow_edges_over_180_deg, repair, properties=properties_of_ddl(properties))
    rows: dict[str, Feature] = {}
    for one in file_rows(Path(path), rules, id):
        if isinstance(one.row, ShapeError):
            raise ShapeError(
                f"{Path(path).name}, {one.place} ({one.id}): {one.row.subject}", one.row.value, one.row.remedy
            )
        rows[one.id] = one.row
    return Layer(rows, rules.is_planar, rules.properties)


def layers_of(sources: Mapping[str, Layer | str | Path], crs: str) -> dict[str, Layer]:
    """Return layers by name. ``sources``: for each name a layer, or the path of a file of shapes, which is read with
    :func:`read_layer`. ``crs``: the crs of the coordinates in such files.

    Raise SchemaError for a source that is neither a layer nor a path, and if the sources are not a mapping.
    """
    if not isinstance(sources, Mapping):
        remedy = 'give a mapping of names to layers or files, as {"zones": "zones.geojson"}'
        raise SchemaError("layers of type", type(sources).__name__, remedy)
    for name, source in sources.items():
        if not isinstance(source, (Layer, str, Path)):
            remedy = "give what asc.read_layer returns, or the path of a file"
            raise SchemaError(f"layer {name!r} of type", type(source).__name__, remedy)
    return {name: one if isinstance(one, Layer) else read_layer(one, crs=crs) for name, one in sources.items()}


def file_rows(path: Path, rules: Rules, id_property: str | None = None) -> Iterator[FileRow]:
    """Yield the rows of a file, one by one. A refused row has the reason of its refusal.

    Raise ShapeError for a file without shapes, for a row without an id, and for an id that occurs twice.
    """
    seen: dict[str, str] = {}
    for place, document in _documents(path, rules):
        shape_id = _id(document, id_property)
        if shape_id is None:
            wanted = f"property '{id_property}'" if id_property else "id of its own, nor a property 'id'"
            raise ShapeError(f"{path.name}, {place}: Feature", "without an id", f"it has no {wanted}: name one (id)")
        if shape_id in seen:
            remedy = f"{seen[shape_id]} has it as well: name a property whose values differ"
            raise ShapeError(f"{path.name}, {place}: id", shape_id, remedy)
        seen[shape_id] = place
        yield FileRow(place, shape_id, _row(document, rules))


def _row(document: Mapping[str, Any], rules: Rules) -> Feature | ShapeError:
    try:
        wkt = document.get(_WKT)
        if wkt is None:
            return feature_of_document(document, rules)
        read = of_wkt(wkt, rules)
        rules.properties.values(document["properties"])
        return Feature(read.geometry, document["properties"], read.warnings)
    except ShapeError as error:
        return error


def _documents(path: Path, rules: Rules) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the Features of a file, each with its position in the file, such as ``line 3``. A Feature from CSV has WKT
    instead of a geometry.
    """
    name = path.name.lower().removesuffix(".gz")
    with _opened(path) as file, _reading(path):
        if name.endswith(_GEOJSON):
            yield from _of_collection(path, file, rules)
        elif name.endswith(_LINES):
            for number, line in enumerate(_lines(path, file), 1):
                if line.strip("\x1e \t\r\n"):
                    yield f"line {number}", _object(path, f"line {number}", line.strip("\x1e"))
        elif name.endswith(_CSV):
            yield from _of_csv(path, file)
        else:
            raise ShapeError("file of shapes", path.name, "name one that ends in .geojson, .ndjson or .csv (or in .gz)")


def _of_collection(path: Path, file: IO[str], rules: Rules) -> Iterator[tuple[str, Mapping[str, Any]]]:
    text = file.read(_DOCUMENT_CHARS_MAX + 1)
    if len(text) > _DOCUMENT_CHARS_MAX:
        remedy = f"has more than {_DOCUMENT_CHARS_MAX:,} characters: write a Feature a line (.ndjson)"
        raise ShapeError("file of shapes", path.name, remedy)
    document = _object(path, _WHOLE, text)
    _check_crs(path, document, rules)
    kind = document.get("type")
    features = document.get("features") if kind == "FeatureCollection" else [document] if kind == "Feature" else None
    if kind == "FeatureCollection" and not isinstance(features, list):
        given = json.dumps(features)[:80] if "features" in document else "missing"
        raise ShapeError(f"{path.name}: features of the FeatureCollection", given, "give an array of Features, or []")
    if not isinstance(features, list):
        raise ShapeError(f"{path.name}: GeoJSON of type", str(kind)[:80], "a FeatureCollection is wanted, or a Feature")
    for number, feature in enumerate(features, 1):
        if not isinstance(feature, dict):
            raise ShapeError(f"{path.name}, feature {number}", str(feature)[:80], "is no Feature")
        yield f"feature {number}", feature


def _of_csv(path: Path, file: IO[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    reader = csv.DictReader(_lines(path, file))
    with _long_fields():
        columns = reader.fieldnames or []
    shape = next((one for one in columns if one.strip().lower() in _WKT_COLUMNS), None)
    if shape is None:
        remedy = f"call the column of WKT one of {', '.join(_WKT_COLUMNS)}"
        raise ShapeError(f"{path.name}: columns", ", ".join(columns)[:200], remedy)
    try:
        while (row := _next_row(reader)) is not None:
            properties = {key: value for key, value in row.items() if key not in (shape, None)}
            yield f"line {reader.line_num}", {_WKT: row[shape] or "", "properties": properties}
    except csv.Error as error:
        raise ShapeError(f"{path.name}, line {reader.reader.line_num}", None, f"is no CSV: {error}") from None


def _next_row(reader: csv.DictReader[str]) -> dict[str, str] | None:
    with _long_fields():
        return next(reader, None)


@contextmanager
def _long_fields() -> Iterator[None]:
    """Allow CSV fields of up to _FIELD_BYTES_MAX characters, so that a field can contain a shape. Afterwards restore
    the limit for other readers of the process.
    """
    with _FIELD_LIMIT:
        before = csv.field_size_limit(_FIELD_BYTES_MAX)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _lines(path: Path, file: IO[str]) -> Iterator[str]:
    """Yield the lines of a file. Raise ShapeError for a line that is too long, before all of it is read."""
    while line := file.readline(_LINE_CHARS_MAX + 1):
        if len(line) > _LINE_CHARS_MAX:
            remedy = f"has more than {_LINE_CHARS_MAX:,} characters in one line: write a Feature a line"
            raise ShapeError("file of shapes", path.name, remedy)
        yield line


def _opened(path: Path) -> IO[str]:
    if path.name.lower().endswith(".gz"):
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8-sig")
    return path.open(encoding="utf-8-sig", newline="")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Convert errors of reading to ShapeError: the file is not text in UTF-8, or its compressed data is damaged."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise ShapeError("file of shapes", path.name, f"is no UTF-8, at byte {error.start}: save it as UTF-8") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ShapeError("file of shapes", path.name, f"cannot be unpacked: {error}") from None


def _object(path: Path, place: str, text: str) -> Mapping[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        said = json_fault(error) if place != _WHOLE else str(error)
        remedy = _LINES_REMEDY if place == _WHOLE and said.startswith("Extra data") else f"is no JSON: {said}"
        raise ShapeError(f"{path.name}, {place}", text[:40], remedy) from None
    if not isinstance(document, dict):
        raise ShapeError(f"{path.name}, {place}", text[:40], "is no JSON object")
    return document


def _check_crs(path: Path, document: Mapping[str, Any], rules: Rules) -> None:
    """Raise ShapeError if a document names a crs other than longitude and latitude, as GeoJSON before RFC
    7946 could.
    """
    named = document.get("crs")
    properties = named.get("properties") if isinstance(named, dict) else None
    name = properties.get("name") if isinstance(properties, dict) else None
    if rules.is_planar or not isinstance(name, str) or name.endswith(_DEGREES):
        return
    raise ShapeError(f"{path.name}: crs", name[:80], "is not longitude and latitude: project it to EPSG:4326 (ogr2ogr)")


def _id(document: Mapping[str, Any], id_property: str | None) -> str | None:
    properties = document.get("properties")
    own = properties if isinstance(properties, dict) else {}
    found = document.get("id", own.get("id")) if id_property is None else own.get(id_property)
    if isinstance(found, bool) or not isinstance(found, (str, int, float)) or found == "":
        return None
    return str(found)
