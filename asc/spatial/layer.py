"""Layers: named sets of shapes, which predicates refer to as ``shape('layer', 'id')``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asc.spatial.properties import NO_PROPERTIES, Properties

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

    from asc.spatial.feature import Feature

ShapeName = tuple[str, str]
"""The name of a layer, and the id of a shape in the layer."""


@dataclass(frozen=True, eq=False)
class Layer:
    """The GeoJSON Features of a layer by id, with shapes in degrees or in a plane.

    Invariant: immutable, with its mapping; a change creates another layer. Every shape has passed
    :func:`asc.spatial.reading.checked`. The properties of every Feature fit the types in ``properties``, whose names
    joins can use. A look-up takes as long as in the mapping.

    >>> import shapely
    >>> from asc.spatial.feature import Feature
    >>> zones = Layer({"old-town": Feature(shapely.box(8.53, 47.36, 8.55, 47.38), {"speed": 30})})
    >>> zones.shape("old-town").bounds, zones.shape("new-town")
    ((8.53, 47.36, 8.55, 47.38), None)
    """

    features: Mapping[str, Feature]
    is_planar: bool = False
    properties: Properties = NO_PROPERTIES

    def shape(self, shape_id: str) -> BaseGeometry | None:
        """Return the shape of the Feature with an id. Return None if there is no such Feature, or if it has no
        shape.
        """
        found = self.features.get(shape_id)
        return None if found is None else found.shape
