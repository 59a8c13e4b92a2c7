"""How often evaluation failed for each query: a division by zero, a cast that fails, a decimal beyond its digits."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping

LOG = logging.getLogger("asc.evaluation")


class EvaluationErrors:
    """Counts of records of one stream on which evaluation failed, by query, since the daemon began.

    A record that comes again (a batch that is run once more) counts again. A query that was registered anew counts from
    0: what a batch tells that runs with an earlier plan is not counted for it.

    Invariant: ``_since`` holds the versions of queries that changed during the batch that runs, and is empty where none
    runs with an earlier plan. Batches add, changes of queries take away, under a lock. Cost: a number for each query
    that had errors, and one for each that changed during a batch.
    """

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}
        self._since: dict[str, int] = {}
        self._batch_version: int | None = None
        self.total = 0
        """The sum over the queries, those included that are gone."""

    def begin_batch(self, version: int) -> None:
        """A batch begins that runs with the plan of a version."""
        with self._lock:
            self._batch_version = version
            self._since = {query_id: since for query_id, since in self._since.items() if since > version}

    def end_batch(self, counts: Mapping[str, int]) -> None:
        """The batch is done: add what it counted; the first errors of queries are logged in one line."""
        with self._lock:
            version, since = self._batch_version, self._since
            own = {
                query_id: count
                for query_id, count in counts.items()
                if version is not None and since.get(query_id, version) <= version
            }
            first = [(query_id, count) for query_id, count in own.items() if query_id not in self._counts]
            for query_id, count in own.items():
                self._counts[query_id] = self._counts.get(query_id, 0) + count
            self.total += sum(own.values())
            self._batch_version, self._since = None, {}
        if first:
            query_id, count = min(first)
            LOG.warning(
                "stream '%s': an expression of query '%s'%s could not be evaluated on %d records of a batch "
                "(a division by zero, a cast or a decimal that does not fit): it is NULL there",
                self._stream,
                query_id,
                f" and {len(first) - 1:,} more" if len(first) > 1 else "",
                count,
            )

    def begin_anew(self, ids: Iterable[str], version: int) -> None:
        """Queries are registered, changed or removed with a version: they count from 0."""
        with self._lock:
            during = self._batch_version is not None and self._batch_version < version
            for query_id in ids:
                self._counts.pop(query_id, None)
                if during:
                    self._since[query_id] = version

    def of(self, query_id: str) -> int:
        """The records on which evaluation failed for a query as it stands."""
        return self._counts.get(query_id, 0)
