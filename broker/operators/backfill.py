"""Backfill of fold states: the records that a folder lacks, which the stream reads once more for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from broker.operators.fold_destination import FoldDestination
from broker.operators.folder import FoldBatch


@dataclass(frozen=True, slots=True)
class SourceOffsets:
    """The offsets of a source topic that can be read for a backfill, by partition.

    ``topic_id``: as for :class:`FoldBatch`. ``ends``: the offsets up to which batches are committed, from which on live
    batches read. ``begins``: the first offsets that Kafka has; empty if they were not asked for. ``is_settled``:
    whether no batch runs, so that the next batch has the running plan.
    """

    topic_id: str
    ends: Mapping[int, int]
    begins: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    is_settled: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class BackfillBatch:
    """The offsets that a stream reads next for a backfill, and the queries whose states lack them.

    ``intervals``: by partition the first offset, and the offset after the last. ``intervals`` is empty if no record is
    to be read, and the folder only has to note that offsets have expired.
    """

    source: SourceOffsets
    intervals: Mapping[int, tuple[int, int]]
    queries: Mapping[str, FoldDestination]


@runtime_checkable
class BackfilledFolder(Protocol):
    """A folder whose states can be backfilled. One thread of the stream calls it, beside the thread of live batches."""

    @property
    def has_backfills(self) -> bool:
        """Return whether the folder has states that are to be backfilled, whether or not they lack records now."""

    def next_backfill(self, source: SourceOffsets) -> BackfillBatch | None:
        """Return the next batch of the backfill. Return None if no state lacks records that Kafka may have.

        Raise BrokerError if the states cannot be read or written now.
        """

    def commit_backfill(self, batch: BackfillBatch, folded: FoldBatch) -> Mapping[str, str]:
        """Commit the states over the records of a backfill batch durably. Return the queries that are parked, with the
        reasons.

        Offsets that were committed meanwhile are skipped. States that are too large for one commit are skipped too, and
        read fewer offsets next time. Raise BrokerError; then the same call can be repeated.
        """
