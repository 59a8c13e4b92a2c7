"""The numbers of objects in the parts of a feed, kept over restarts for the status."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from broker.failure import one_line

LOG = logging.getLogger("asc.operators")

_FILE = "held.json"


class HeldCounts:
    """The number of objects or observations that each part of a feed holds.

    Invariant: as of the last batch that was seen to end, also after a restart. The counts are for people: the states
    themselves are Spark's, so a file that is missing, damaged or cannot be written costs no more than the counts. One
    thread writes. Cost: a small file, without a sync, for each batch that changes a count.
    """

    def __init__(self, folder: Path) -> None:
        """Read the counts that a folder has; the folder may be missing until counts are kept."""
        self._file = folder / _FILE
        self._counts: Mapping[int, int] | None = _read(self._file)

    @property
    def total(self) -> int | None:
        """Return the number in all parts; None where it is not known."""
        counts = self._counts
        return None if counts is None else sum(counts.values())

    def keep(self, counts: Mapping[int, int]) -> None:
        """Replace the counts of some parts."""
        merged = {**(self._counts or {}), **counts}
        if merged == self._counts:
            return
        self._counts = merged
        aside = self._file.with_suffix(".tmp")
        try:
            aside.write_text(json.dumps(merged), "utf-8")
            aside.replace(self._file)
        except OSError as error:
            LOG.warning("file %s cannot be written, status has no counts after a restart: %s", aside, one_line(error))


def _read(file: Path) -> Mapping[int, int] | None:
    try:
        return {int(part): int(count) for part, count in json.loads(file.read_text("utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return None
