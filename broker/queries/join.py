"""What makes a registered query a join: the layer that it stands over, and how it delivers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Join:
    """A query whose predicate names columns of a layer: it stands for one query a row. ``pairs``: what is accepted is
    written once a record and shape, instead of once.

    >>> Join.of(Join("countries").plain()) == Join("countries")
    True
    """

    layer: str
    pairs: bool = False

    def plain(self) -> dict[str, Any]:
        """As JSON has it, in the registry and in the API."""
        return {"layer": self.layer, "pairs": self.pairs}

    @staticmethod
    def of(plain: object) -> Join | None:
        """From JSON; None for null. TypeError for what is none."""
        if plain is None:
            return None
        if not isinstance(plain, Mapping):
            raise TypeError("join is no JSON object")
        layer, pairs = plain.get("layer"), plain.get("pairs", False)
        if not isinstance(layer, str) or not isinstance(pairs, bool):
            raise TypeError("join has no layer, or another member of another type")
        return Join(layer, pairs)
