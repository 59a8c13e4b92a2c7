"""The section of a layer in the configuration: a topic of shapes that predicates can name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

from pydantic import Field

from asc.errors import SchemaError
from asc.schema import PLANAR, properties_of_ddl
from asc.spatial.reading import Rules
from broker.config.sections import LimitsConfig, Section, TopicName, collision_name
from broker.errors import ConfigError


class LayerConfig(Section):
    """A compacted topic of GeoJSON Features. ``crs``: the coordinate reference system of the coordinates.
    ``allow_edges_over_180_deg``: whether an edge may span more than 180 degrees of longitude. ``properties``: the
    properties of the Features that joins may name, as Spark DDL.
    """

    renamed: ClassVar[Mapping[str, str]] = MappingProxyType({"wide_edges": "allow_edges_over_180_deg"})

    topic: TopicName
    crs: Literal["wgs84", "planar"] = "wgs84"
    allow_edges_over_180_deg: bool = Field(default=False, strict=True)
    properties: str | None = Field(default=None, strict=True)

    @property
    def is_planar(self) -> bool:
        return self.crs == PLANAR

    def rules(self, limits: LimitsConfig) -> Rules:
        """Return the rules for the layer's shapes."""
        properties = properties_of_ddl(self.properties or "")
        return Rules(
            self.is_planar, self.allow_edges_over_180_deg, vertices_max=limits.shape_vertices, properties=properties
        )


def layer_faults(name: str, layer: LayerConfig, taken: dict[str, str]) -> Iterator[ConfigError]:
    """Yield the faults of a layer. ``taken``: the topics that are already in use, by :func:`collision_name`, with their
    use.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
        yield ConfigError("layer name", name, "use 1 to 100 of A-Z a-z 0-9 . _ -, a letter or digit first")
    other = taken.get(collision_name(layer.topic))
    if other is not None or layer.topic.startswith("__"):
        remedy = f"is {other or 'an internal topic'}: name a topic of its own, compacted"
        yield ConfigError(f"layers.{name}.topic", layer.topic, remedy)
    try:
        properties_of_ddl(layer.properties or "")
    except SchemaError as error:
        yield ConfigError(f"layers.{name}.properties: {error.subject}", error.value, error.remedy)
