"""The client's methods for layers and their shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from broker.answers.layer import Layer, LayerDetails, LayerFeature, ShapeSummary, ShapesWritten
from broker.client.bodies import flags
from broker.client.connection import Connection
from broker.client.paths import layer_path, shape_path

NDJSON = "application/x-ndjson"


class LayerClient:
    """The client's methods for the layers of one daemon: the attribute ``layers`` of `broker.Client`. All methods raise
    ClientError.
    """

    def __init__(self, connection: Connection, load_timeout_s: float) -> None:
        self._connection = connection
        self._load_timeout_s = load_timeout_s

    def list(self) -> Sequence[Layer]:
        """Return the configured layers, ordered by name."""
        answer = self._connection.asked("GET", "/v1/layers")
        return cast("Sequence[Layer]", self._connection.field(answer, "layers", list))

    def show(self, name: str) -> LayerDetails:
        """Return one layer, with the Features in its topic that are refused as shapes."""
        return cast("LayerDetails", self._connection.asked("GET", layer_path(name)))

    def shapes(self, name: str, prefix: str = "") -> Iterator[ShapeSummary]:
        """Yield the shapes of a layer whose ids begin with ``prefix``, ordered by id. A page is requested when the
        previous one is used up.
        """
        return self._connection.items(f"{layer_path(name)}/shapes", "shapes", {"prefix": prefix}, 1_000)

    def shape(self, name: str, shape_id: str) -> LayerFeature:
        """Return one shape, as a GeoJSON Feature."""
        return cast("LayerFeature", self._connection.asked("GET", shape_path(name, shape_id)))

    def put(self, name: str, ndjson: bytes, *, keep_going: bool = False, dry_run: bool = False) -> ShapesWritten:
        """Add or replace the shapes in NDJSON lines, each a GeoJSON Feature with an id. Remove the shapes that lines
        ``{"remove": ID}`` name. Without ``keep_going``, all changes are applied or none.

        With ``keep_going``, the valid shapes are stored, and the refused ones are listed in ``errors`` of the answer.
        If the daemon refuses the request because of shapes, RefusedError lists them in ``lines``. With ``dry_run``, the
        shapes are only validated.
        """
        params = flags(keep_going=keep_going, dry_run=dry_run)
        answer = self._connection.asked(
            "POST",
            f"{layer_path(name)}/shapes",
            params=params,
            content=ndjson,
            headers={"Content-Type": NDJSON},
            timeout=self._load_timeout_s,
        )
        return cast("ShapesWritten", answer)

    def remove(self, name: str, shape_id: str) -> ShapesWritten:
        """Remove one shape."""
        return cast("ShapesWritten", self._connection.asked("DELETE", shape_path(name, shape_id)))
