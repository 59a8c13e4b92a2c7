"""Joins of registered queries: the layer of a join, and its way of delivery."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Join:
    """The layer of a query whose predicate names columns of it: the query represents one query a row.

    ``per_shape``: each accepted record is written once a shape, instead of once.

    >>> Join.of(Join("countries").plain()) == Join("countries")
    True
    """

    layer: str
    per_shape: bool = False

    def plain(self) -> dict[str, Any]:
        """Return the join as JSON has it, in the registry and in the API."""
        return {"layer": self.layer, "per_shape": self.per_shape}

    @staticmethod
    def of(plain: object) -> Join | None:
        """Return the join that JSON holds, None for null. TypeError for anything else.

        Records and snapshots written before the member was renamed have ``pairs`` for ``per_shape``.
        """
        if plain is None:
            return None
        if not isinstance(plain, Mapping):
            raise TypeError("join is no JSON object")
        layer, per_shape = plain.get("layer"), plain.get("per_shape", plain.get("pairs", False))
        if not isinstance(layer, str) or not isinstance(per_shape, bool):
            raise TypeError("join has no layer, or another member of another type")
        return Join(layer, per_shape)
