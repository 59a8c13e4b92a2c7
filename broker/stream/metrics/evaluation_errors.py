"""The counts of evaluation errors by query, for example of a division by zero, or of a cast that does not fit."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping
from typing import Protocol

LOG = logging.getLogger("asc.evaluation")


class Versioned(Protocol):
    """The protocol of a query that has a version."""

    @property
    def version(self) -> int:
        """Return the version of the registry at which the query was registered in its current form."""


class EvaluationErrors:
    """The counts of records of one stream on which a query's evaluation failed, by query, since the daemon started.

    The records of a replayed batch are counted again. A query that is registered anew starts at 0, and ignores batches
    that ran with an earlier plan.

    Invariant: only queries with errors are stored, each with the version for which it was counted. Registration
    replaces the standing queries in this object before their plan runs. So every batch is counted for the queries that
    are registered at that time. Cost: two numbers for each query that had errors.
    """

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._standing: Mapping[str, Versioned] = {}
        self._counts: dict[str, tuple[int, int]] = {}
        self.total = 0
        """The sum over all queries, including queries that were removed."""

    def set_registered(self, queries: Mapping[str, Versioned], gone: Iterable[str] = ()) -> None:
        """Replace the standing queries, by id, and forget the counts of the queries ``gone``.

        The mapping is referenced, not copied, so it must not change.
        """
        with self._lock:
            self._standing = queries
            for query_id in gone:
                self._counts.pop(query_id, None)

    def count(self, plan_version: int, counts: Mapping[str, int]) -> None:
        """Add the counts of a batch that ran with the plan of a version. Log the first errors of queries."""
        first: list[tuple[str, int]] = []
        with self._lock:
            for query_id, count in counts.items():
                query = self._standing.get(query_id)
                if query is None or query.version > plan_version:
                    continue
                version, before = self._counts.get(query_id, (-1, 0))
                if version != query.version:
                    before = 0
                    first.append((query_id, count))
                self._counts[query_id] = (query.version, before + count)
                self.total += count
        if first:
            query_id, count = min(first)
            LOG.warning(
                "stream '%s': an expression of query '%s'%s could not be evaluated on %d records of a batch "
                "(a division by zero, a cast or decimal that does not fit, a position off the earth): it is NULL there",
                self._stream,
                query_id,
                f" and {len(first) - 1:,} more" if len(first) > 1 else "",
                count,
            )

    def counts(self) -> dict[str, int]:
        """Return the number of failed records of each standing query with errors, by id."""
        with self._lock:
            standing, counts = self._standing, dict(self._counts)
        found: dict[str, int] = {}
        for query_id, (version, count) in counts.items():
            query = standing.get(query_id)
            if query is not None and query.version == version:
                found[query_id] = count
        return found

    def of(self, query_id: str, version: int) -> int:
        """Return the number of records on which the evaluation of a version of a query failed."""
        counted, count = self._counts.get(query_id, (-1, 0))
        return count if counted == version else 0
