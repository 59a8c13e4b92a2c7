"""How often evaluation failed for each query: a division by zero, a cast that fails, a decimal beyond its digits."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable, Mapping

LOG = logging.getLogger("asc.evaluation")


class EvaluationErrors:
    """Counts of records on which evaluation failed, by query and by stream, since the daemon began.

    A record that comes again (a batch that is run once more) counts again. Invariant: only queries with a count are
    held, each with the version it was registered or changed at; another version counts from 0. Batches add to it,
    changes of queries take from it, under a lock. Cost: two numbers a query that had errors.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_query: dict[str, tuple[int, int]] = {}
        self._by_stream: Counter[str] = Counter()

    def add(self, stream: str, counts: Mapping[tuple[str, int], int]) -> None:
        """Add what a batch counted, by id and version; the first errors of queries are logged in one line."""
        first: list[tuple[str, int]] = []
        with self._lock:
            for (query_id, version), count in counts.items():
                known, before = self._by_query.get(query_id, (-1, 0))
                if known == version:
                    self._by_query[query_id] = (version, before + count)
                elif known < version:
                    self._by_query[query_id] = (version, count)
                    first.append((query_id, count))
            self._by_stream[stream] += sum(counts.values())
        if first:
            query_id, count = min(first)
            LOG.warning(
                "stream '%s': an expression of query '%s'%s could not be evaluated on %d records of a batch "
                "(a division by zero, a cast or a decimal that does not fit): it is NULL there",
                stream,
                query_id,
                f" and {len(first) - 1:,} more" if len(first) > 1 else "",
                count,
            )

    def forget(self, ids: Iterable[str]) -> None:
        """Queries are gone."""
        with self._lock:
            for query_id in ids:
                self._by_query.pop(query_id, None)

    def of(self, query_id: str, version: int) -> int:
        """The records on which evaluation failed for a version of a query."""
        known, count = self._by_query.get(query_id, (-1, 0))
        return count if known == version else 0

    def of_stream(self, stream: str) -> int:
        """The sum over a stream's queries, those included that are gone."""
        return self._by_stream[stream]
