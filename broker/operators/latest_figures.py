"""The figures of each query of a feed (numbers that the list of queries shows, such as the objects inside), stored so
that they survive a restart.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from broker.operators.part_file import PartFile

_FILE = "latest.json"


class LatestFigures:
    """The figures of queries that the parts of a feed reported: see :class:`PartFile`."""

    def __init__(self, folder: Path, summed: Collection[str]) -> None:
        """Read the figures in a folder. The folder may be missing until figures are written.

        ``summed``: the names of figures that are sums over the parts of a feed.
        """
        self._summed = frozenset(summed)
        self._file = PartFile(folder / _FILE)

    def of(self, query_id: str) -> Mapping[str, Any] | None:
        """Return the figures of a query. If several parts have the same figure, return its sum over the parts if it is
        in ``summed``, and otherwise the figure of the first part. Return None if there are none yet.
        """
        merged: dict[str, Any] = {}
        for figures in (self._file.by_part or {}).values():
            of_part = figures.get(query_id) if isinstance(figures, dict) else None
            for name, value in of_part.items() if isinstance(of_part, dict) else ():
                if name in self._summed and name in merged:
                    merged[name] += value
                else:
                    merged.setdefault(name, value)
        return merged or None

    def keep(self, figures: Mapping[int, Mapping[str, Mapping[str, Any]]]) -> None:
        """Replace the figures of some parts, by query. A query without figures no longer belongs to the part."""
        self._file.keep(figures)
