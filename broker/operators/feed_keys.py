"""The Kafka keys of the messages of a feed, and the messages that each reader of the feed reads."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from asc.operators.feed import TIME_KEY

if TYPE_CHECKING:
    from pyspark.sql import Column


class FeedKeys:
    """The assignment of a feed's messages to its readers, by the Kafka keys of the messages.

    A reader reads the messages with the tag of its kind, watermarks, and messages without a key, which have form 1.
    Messages with unknown keys are read only by the first reader that the stream wanted (:meth:`want`), which counts
    them as ``unreadable``. A stream wants its readers in the order of the table of kinds, but not necessarily all of
    them. So the queries determine this reader, and not the order in which threads start readers. Thread-safe.
    """

    def __init__(self, kinds: Iterable[str]) -> None:
        """Create the assignment. ``kinds``: the tags of all kinds with the handoff ``feed``."""
        self._kinds = frozenset(kinds)
        self._lock = threading.Lock()
        self._first: str | None = None

    def want(self, name: str) -> None:
        """Note that the stream wants a reader, before the reader starts. ``name``: the tag of the reader's kind."""
        with self._lock:
            self._first = self._first or name

    def is_read_by(self, name: str) -> Column:
        """Return the condition over the column ``key`` that holds for the messages that a reader reads. ``name``: the
        tag of the reader's kind, for which the caller has called :meth:`want`.
        """
        from pyspark.sql import functions as sf

        key = sf.coalesce(sf.col("key").cast("string"), sf.lit(""))
        if self._first == name:
            return ~key.isin(*sorted(self._kinds - {name}))
        return key.isin(name, TIME_KEY, "")
