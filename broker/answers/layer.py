"""The API's answers about layers and their shapes."""

from __future__ import annotations

from typing import Literal

from typing_extensions import NotRequired, TypedDict

from broker.answers.query import EffectiveOffsets
from broker.answers.refusal import RefusedLine


class Layer(TypedDict):
    """A configured layer. ``refused``: the number of Features that its rules refuse. ``unkeyed``: the number of records
    without an id.
    """

    name: str
    topic: str
    crs: str
    allow_edges_over_180_deg: bool
    rows: int
    refused: int
    unkeyed: int


class Layers(TypedDict):
    """The configured layers."""

    layers: list[Layer]


class RefusedShape(TypedDict):
    """A Feature that is refused, and the reason."""

    id: str
    reason: str


class LayerDetails(Layer):
    """A layer with its first refused Features. ``offsets``: the offsets of its topic up to which the plans contain its
    shapes.

    ``bounds``: the west, south, east and north of all its shapes; None if it has no shape.
    """

    bounds: list[float] | None
    refusals: list[RefusedShape]
    offsets: EffectiveOffsets


class ShapeSummary(TypedDict):
    """One shape of a layer. ``bounds``: its west, south, east and north; None if the shape is empty."""

    id: str
    kind: str | None
    vertices: int
    bounds: list[float] | None


class ShapePage(TypedDict):
    """A page of the shapes of a layer. ``cursor``: the cursor for the next page."""

    shapes: list[ShapeSummary]
    cursor: str | None


class LayerFeature(TypedDict):
    """A GeoJSON Feature."""

    id: str
    type: Literal["Feature"]
    geometry: dict[str, object] | None
    properties: dict[str, object] | None


class ShapesWritten(TypedDict):
    """The numbers of shapes that a request put and removed. ``effective_offsets``: for each stream, the first offsets
    for which the change is in force.

    Of the shapes that were put, ``added`` are new, ``changed`` differ from the former shape of their id, and the others
    are unchanged.
    """

    put: int
    added: int
    changed: int
    unchanged: int
    removed: int
    version: int
    effective_offsets: dict[str, EffectiveOffsets]
    warnings: NotRequired[dict[str, list[str]]]
    errors: NotRequired[list[RefusedLine]]
