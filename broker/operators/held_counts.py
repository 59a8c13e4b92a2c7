"""The numbers of objects in the parts of a feed, stored for the status so that they survive a restart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from broker.operators.part_file import PartFile

_FILE = "held.json"


class HeldCounts:
    """The number of objects or observations that each part of a feed holds: see :class:`PartFile`."""

    def __init__(self, folder: Path) -> None:
        """Read the counts in a folder. The folder may be missing until counts are written."""
        self._file = PartFile(folder / _FILE)

    @property
    def total(self) -> int | None:
        """Return the number of objects in all parts. Return None if it is not known."""
        counts = self._file.by_part
        try:
            return None if counts is None else sum(map(int, counts.values()))
        except (TypeError, ValueError):
            return None

    def keep(self, counts: Mapping[int, int]) -> None:
        """Replace the counts of some parts."""
        self._file.keep(counts)
