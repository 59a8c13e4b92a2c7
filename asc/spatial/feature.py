"""Rows of layers: GeoJSON Features, which are the records of a layer's topic and the rows of its file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from asc.errors import ShapeError
from asc.nesting import JSON_LEVELS_MAX, json_levels
from asc.spatial.reading import Rules, check_geojson, of_geojson, plainly_good, too_deep

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry


@dataclass(frozen=True, slots=True)
class Feature:
    """A row of a layer: its shape (None if the row has no shape), its properties with the values of JSON, and warnings
    about the shape, such as a repair.
    """

    shape: BaseGeometry | None
    properties: Mapping[str, Any]
    warnings: tuple[str, ...] = ()


def feature_of(text: str, rules: Rules) -> Feature:
    """Return the row for the text of a GeoJSON Feature. Raise ShapeError for other texts, and for a refused shape.

    >>> text = '{"type": "Feature", "geometry": {"type": "Point", "coordinates": [8.5, 47]}, "properties": {"n": 1}}'
    >>> found = feature_of(text, Rules())
    >>> found.shape.x, dict(found.properties)
    (8.5, {'n': 1})
    """
    check_geojson(text)
    return feature_of_document(_parsed(text), rules)


def feature_of_document(document: object, rules: Rules) -> Feature:
    """Return the row for a parsed GeoJSON Feature, as :func:`feature_of` does for its text."""
    if not _is_feature(document):
        kind = document.get("type") if isinstance(document, dict) else type(document).__name__
        remedy = 'write {"type": "Feature", "geometry": {...}, "properties": {...}}'
        raise ShapeError("GeoJSON of type", str(kind)[:80], remedy)
    properties, geometry = _properties(document, rules), document.get("geometry")
    if geometry is None:
        return Feature(None, properties)
    try:
        text = json.dumps(geometry, allow_nan=False)
    except ValueError:
        raise ShapeError("shape", "a coordinate that is no finite number", "write numbers") from None
    except RecursionError:
        raise ShapeError("shape", "a geometry", "is nested too deep") from None
    read = of_geojson(text, rules)
    return Feature(read.geometry, properties, read.warnings)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ShapeError("GeoJSON Feature", text[:80], f"is not JSON: {error}") from None


def _is_feature(document: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(document, dict) and document.get("type") == "Feature"


def _properties(document: Mapping[str, Any], rules: Rules) -> Mapping[str, Any]:
    properties = document.get("properties")
    if properties is not None and not isinstance(properties, dict):
        raise ShapeError("properties of a Feature", str(properties)[:80], "write an object, or null")
    rules.properties.values(properties or {})  # raises for a value whose type predicates do not have
    return properties or {}


def features_of(texts: Sequence[str], rules: Rules) -> list[Feature | ShapeError]:
    """Return for each of many Features its row, as :func:`feature_of` does, or the reason for its refusal.

    A row takes a tenth of the time of :func:`feature_of`: GEOS reads and validates shapes together, and only doubtful
    rows are read individually.
    """
    import numpy as np
    import shapely

    features: list[Feature | ShapeError] = []
    # The recursive parser of GEOS could overflow the stack, so it gets no deeply nested text.
    shallow_texts = [text if json_levels(text) <= JSON_LEVELS_MAX else None for text in texts]
    # A number beyond a double is infinite, and refused below.
    with np.errstate(over="ignore"):
        shapes = shapely.from_geojson(np.array(shallow_texts, dtype=object), on_invalid="ignore")
    good = plainly_good(shapes, rules)
    for whole, text, shape, is_good in zip(texts, shallow_texts, shapes.tolist(), good, strict=True):
        try:
            if text is None:
                raise too_deep(whole)
            document = _parsed(text)
            if is_good and _is_feature(document) and document.get("geometry") is not None:
                features.append(Feature(shape, _properties(document, rules)))
            else:
                features.append(feature_of_document(document, rules))
        except ShapeError as error:
            features.append(error)
    return features


def feature_document(feature: Feature) -> dict[str, Any]:
    """Return the GeoJSON Feature of a row, ready for JSON."""
    from shapely.geometry import mapping

    geometry = None if feature.shape is None else mapping(feature.shape)
    return {"type": "Feature", "geometry": geometry, "properties": dict(feature.properties)}


def feature_text(feature: Feature) -> str:
    """Return the GeoJSON Feature of a row, with all digits of its coordinates.

    >>> feature_text(Feature(None, {"ceiling": 4500}))
    '{"type":"Feature","geometry":null,"properties":{"ceiling":4500}}'
    """
    return json.dumps(feature_document(feature), separators=(",", ":"), ensure_ascii=False)
