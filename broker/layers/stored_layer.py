"""Stored layers: the rows of a layer, read from its topic up to a mark."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from asc.errors import ShapeError
from asc.spatial.feature import Feature, features_of
from asc.spatial.layer import Layer
from asc.spatial.reading import Rules
from broker.failure import one_line
from broker.layers.mark import LayerMark
from broker.plans.sorted_map import SortedMap

LOG = logging.getLogger("asc.layers")

_ID_CHARS_MAX = 500

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class StoredLayer:
    """The rows of a layer, and the reasons for which the last Features of some ids are refused. If a Feature is
    refused, the last valid row of its id remains.

    ``unkeyed``: the number of records whose key is missing or not an id, so that they name no row.

    Invariant: immutable; the content is a function of the records before ``mark``, each read once, in the order of its
    partition. Cost: a change copies only the chunks of rows that it changes (:class:`SortedMap`).
    """

    rules: Rules
    rows_max: int
    mark: LayerMark = field(default_factory=LayerMark)
    rows: SortedMap[str, Feature] = field(default_factory=SortedMap)
    refused: SortedMap[str, str] = field(default_factory=SortedMap)
    unkeyed: int = 0

    @cached_property
    def layer(self) -> Layer:
        """The layer in the form that predicates use."""
        return Layer(self.rows, self.rules.is_planar, self.rules.properties)

    @cached_property
    def bounds(self) -> tuple[float, float, float, float] | None:
        """The least x, least y, greatest x and greatest y of all shapes, or None if there are none. Cost: one pass over
        the shapes, at the first use.
        """
        import numpy as np
        import shapely

        shapes = [row.shape for row in self.rows.values() if row.shape is not None and not row.shape.is_empty]
        if not shapes:
            return None
        west, south, east, north = map(float, shapely.total_bounds(np.array(shapes, dtype=object)))
        return west, south, east, north

    def after(
        self, records: Sequence[tuple[bytes | None, bytes | None]], mark: LayerMark
    ) -> tuple[StoredLayer, set[str]]:
        """Return the layer after further records, (key, value) pairs in order, and the ids of the changed rows."""
        come: dict[str, Feature | None] = {}
        refused: dict[str, str | None] = {}
        rows_left, unkeyed = self.rows_max - len(self.rows), 0
        for shape_id, feature in self._read(records):
            if shape_id is None:
                unkeyed += 1
                continue
            current = come[shape_id] if shape_id in come else self.rows.get(shape_id)
            if isinstance(feature, Feature) and current is None and rows_left <= 0:
                refused[shape_id] = f"is one more than {self.rows_max:,} rows: raise limits.layer_shapes"
                continue
            if isinstance(feature, ShapeError):
                refused[shape_id] = str(feature)
                continue
            rows_left += (current is not None) - (feature is not None)
            come[shape_id], refused[shape_id] = feature, None
        after = replace(
            self,
            mark=mark,
            rows=self.rows.changed(*_parted(come)),
            refused=self.refused.changed(*_parted(refused)),
            unkeyed=self.unkeyed + unkeyed,
        )
        return after, {shape_id for shape_id in come if after.rows.get(shape_id) is not self.rows.get(shape_id)}

    def _read(
        self, records: Sequence[tuple[bytes | None, bytes | None]]
    ) -> Iterator[tuple[str | None, Feature | ShapeError | None]]:
        """Yield the id of each record (None if the key is not an id) and its row (None if it is removed)."""
        texts = [_text_of(value) for _, value in records]
        found = iter(judged([text for text in texts if isinstance(text, str)], self.rules))
        for (key, _), text in zip(records, texts, strict=True):
            yield _id_of(key), next(found) if isinstance(text, str) else text


def judged(texts: Sequence[str], rules: Rules) -> list[Feature | ShapeError]:
    """Return, for each text, its row or the reason for its refusal. An unexpected error refuses only its own row.

    A layer is read again at each start of the daemon, so no row may abort the reading.
    """
    try:
        return features_of(texts, rules)
    except MemoryError:
        # The rows are not the cause.
        raise
    except Exception as error:
        if len(texts) > 1:
            return [found for text in texts for found in judged([text], rules)]
        LOG.exception("a row of a layer is refused, for an error that was not foreseen")
        return [ShapeError("Feature", texts[0][:80], f"cannot be judged: {one_line(error)}")]


def _parted(changes: Mapping[str, _T | None]) -> tuple[dict[str, _T], list[str]]:
    """Return the values that are put, and the keys that are removed."""
    puts = {key: value for key, value in changes.items() if value is not None}
    return puts, [key for key, value in changes.items() if value is None]


def _text_of(value: bytes | None) -> str | ShapeError | None:
    try:
        return None if value is None else value.decode("utf-8")
    except UnicodeDecodeError:
        return ShapeError("Feature", repr(value[:40] if value else b""), "is no UTF-8: write a GeoJSON Feature")


def check_shape_id(text: str) -> str:
    """Return the id if it is a valid id of a row. Otherwise raise ShapeError."""
    if not text or len(text) > _ID_CHARS_MAX or not text.isprintable():
        raise ShapeError("id of a shape", text[:80], f"use 1 to {_ID_CHARS_MAX} printable characters")
    return text


def _id_of(key: bytes | None) -> str | None:
    """Return the id in a record's key. Return None if the key is not UTF-8 text, empty, or too long."""
    try:
        return check_shape_id((key or b"").decode("utf-8"))
    except (UnicodeDecodeError, ShapeError):
        return None
