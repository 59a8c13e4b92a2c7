"""The join of a registered query with a layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Join:
    """The layer with which a query is joined: the predicate names columns of the layer, and is evaluated for each row.

    If ``per_shape`` is true, an accepted record is written once for each accepting shape, else once.

    >>> Join.of(Join("countries").plain()) == Join("countries")
    True
    """

    layer: str
    per_shape: bool = False

    def plain(self) -> dict[str, Any]:
        """Return the join as a JSON object, for the registry and the API."""
        return {"layer": self.layer, "per_shape": self.per_shape}

    @staticmethod
    def of(plain: object) -> Join | None:
        """Return the join of a JSON value, or None for null. Raise TypeError for any other value.

        Old records and snapshots have the key ``pairs`` in place of ``per_shape``.
        """
        if plain is None:
            return None
        if not isinstance(plain, Mapping):
            raise TypeError("join is no JSON object")
        layer, per_shape = plain.get("layer"), plain.get("per_shape", plain.get("pairs", False))
        if not isinstance(layer, str) or not isinstance(per_shape, bool):
            raise TypeError("join has no layer, or another member of another type")
        return Join(layer, per_shape)
