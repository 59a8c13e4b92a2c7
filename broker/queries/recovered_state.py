"""The state recovered at a start: a snapshot of the standing queries, and the later records of the registry."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from broker.kafka.retention import RETENTION_MS
from broker.layers.mark import KEY_PREFIX, LayerMark
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.registry import Registry
from broker.queries.snapshot import Snapshot, Snapshots

LOG = logging.getLogger("asc.snapshot")

_OLDEST_S = RETENTION_MS / 1000 * 0.9
"""The age in seconds up to which a snapshot is used. The registry keeps removals at least that long.

An older snapshot may have queries whose removal is not recorded any more.
"""


Record = tuple[int, str, RegisteredQuery | LayerMark | None]
"""A record of the registry: its offset, its id, and the query, or None for a removal, or the mark of a layer."""


@dataclass(frozen=True, slots=True, eq=False)
class RecoveredState:
    """A snapshot and the registry records after it, in order."""

    snapshot: Snapshot
    records: Sequence[Record]

    @staticmethod
    def read(snapshots: Snapshots, registry: Registry, watched: Collection[str]) -> RecoveredState | None:
        """Return the snapshot and the later records. Log the reason and return None if they cannot be used."""
        snapshot = snapshots.read(watched)
        if snapshot is None:
            return None
        records = registry.records_after(snapshot.standing.version)
        if records is None:
            LOG.warning("the snapshot is not of the registry topic as it is: all queries are read anew")
            return None
        if records and time.time() - snapshot.made_at_s > _OLDEST_S:
            LOG.info("the snapshot is older than what the registry tells of removals: all queries are read anew")
            return None
        LOG.info("snapshot: %d queries, and %d changes after it", len(snapshot.standing), len(records))
        return RecoveredState(snapshot, records)

    def at(self, version: int | None = None) -> tuple[QuerySet, set[str]]:
        """Return the queries at a version (None: the newest) and the ids that changed since the snapshot."""
        records = [record for record in self.records if version is None or record[0] <= version]
        return after_records(self.snapshot.standing, records, version)


def after_records(before: QuerySet, records: Sequence[Record], version: int | None = None) -> tuple[QuerySet, set[str]]:
    """Return a set after applying registry records, and the ids of the changed queries.

    The returned set is at ``version``, or at the version of the last record. It has the layers of ``before``, and the
    marks of layers of the new version.
    """
    last = {query_id: found for _, query_id, found in records}
    puts = [found for found in last.values() if isinstance(found, RegisteredQuery)]
    removes = [key for key, found in last.items() if found is None and not key.startswith(KEY_PREFIX)]
    marks = {key.removeprefix(KEY_PREFIX): found for key, found in last.items() if isinstance(found, LayerMark)}
    reached = (records[-1][0] if records else before.version) if version is None else version
    after = before.changed(puts, removes, reached).with_marks(marks, reached)
    return after, {*removes, *(query.id for query in puts)}
