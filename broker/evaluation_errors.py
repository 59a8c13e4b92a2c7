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
    held. Batches add to it, changes of queries take from it, under a lock. Cost: a number a query that had errors.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_query: Counter[str] = Counter()
        self._by_stream: Counter[str] = Counter()

    def add(self, stream: str, counts: Mapping[str, int]) -> None:
        """Add what a batch counted, by query; the first errors of queries are logged in one line."""
        with self._lock:
            first = sorted(counts.keys() - self._by_query.keys())
            self._by_query.update(counts)
            self._by_stream[stream] += sum(counts.values())
        if first:
            LOG.warning(
                "stream '%s': an expression of query '%s'%s could not be evaluated on %d records of a batch "
                "(a division by zero, a cast or a decimal that does not fit): it is NULL there",
                stream,
                first[0],
                f" and {len(first) - 1:,} more" if len(first) > 1 else "",
                counts[first[0]],
            )

    def forget(self, ids: Iterable[str]) -> None:
        """Queries are gone, or others now."""
        with self._lock:
            for query_id in ids:
                self._by_query.pop(query_id, None)

    def of(self, query_id: str) -> int:
        """The records on which evaluation failed for a query."""
        return self._by_query[query_id]

    def of_stream(self, stream: str) -> int:
        """The sum over a stream's queries, those included that are gone."""
        return self._by_stream[stream]
