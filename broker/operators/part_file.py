"""Files with the last reported values of each part of a feed, so that the status of the daemon shows these values also
after a restart.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from broker.failure import one_line

LOG = logging.getLogger("asc.operators")


class PartFile:
    """A file with one JSON value for each part of a feed.

    Invariant: the values are those of the last batch whose end was reported, also after a restart. The values are for
    display only, because Spark has the states. So if the file is missing, damaged or not writable, only the values are
    lost. One thread writes. Cost: for each batch that changes a value, one small file is written, without a sync.
    """

    def __init__(self, file: Path) -> None:
        """Read the values in a file. Its folder may be missing until values are written."""
        self._file = file
        self.by_part: Mapping[int, Any] | None = _read(file)
        """The values by part of the feed; None if they are not known."""

    def keep(self, values: Mapping[int, Any]) -> None:
        """Replace the values of some parts."""
        merged = {**(self.by_part or {}), **values}
        if merged == self.by_part:
            return
        self.by_part = merged
        aside = self._file.with_suffix(".tmp")
        try:
            aside.write_text(json.dumps(merged), "utf-8")
            aside.replace(self._file)
        except OSError as error:
            LOG.warning("file %s cannot be written, status has less after a restart: %s", aside, one_line(error))


def _read(file: Path) -> Mapping[int, Any] | None:
    try:
        return {int(part): value for part, value in json.loads(file.read_text("utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return None
