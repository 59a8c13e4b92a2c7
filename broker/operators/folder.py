"""Folders: the part of the handoff ``fold`` in the driver, which commits the states of each batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from asc.schema import Schema
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.kafka.cluster import KafkaCluster
from broker.operators.fold_destination import FoldDestination
from broker.plans.offsets import Offsets

if TYPE_CHECKING:
    from broker.matching.fold_task import FoldCounts, FoldPartial


@dataclass(frozen=True, slots=True)
class FoldContext:
    """The parts of a stream that its folders need.

    ``checkpoint_dir``: the checkpoint folder of all streams. ``attributes``: the attributes of a record.
    ``lateness_us``: the allowed lateness in microseconds, by which the watermark is behind the mark. ``time_zone``: the
    time zone in which Spark reads TIMESTAMP literals. ``cluster``: the Kafka cluster with the topics of outputs.
    ``read_to`` returns the offsets up to which batches are committed, by the id of the source topic and partition. It
    asks Kafka, so only a folder with states calls it, and it may raise KafkaError. ``lag`` returns the records that the
    stream has not read yet, None if it is unknown; it asks nobody.
    """

    name: str
    checkpoint_dir: Path
    attributes: Schema
    limits: LimitsConfig
    lateness_us: int
    time_zone: str
    cluster: KafkaCluster
    read_to: Callable[[], Mapping[tuple[str, int], int]] = dict
    lag: Callable[[], int | None] = lambda: None


@dataclass(frozen=True, slots=True, eq=False)
class FoldBatch:
    """A batch that was written to Kafka, with the states of the queries of one kind over its records.

    ``version``: the version of its plan. ``topic_id``: the id of the source topic, which differs if the topic was
    deleted and created again; empty if Kafka does not report an id. ``first``, ``end``: offsets by source partition,
    the same each time the batch runs. ``waiting``: the partitions without a record in this batch though they have later
    records, or may have some because Kafka did not report their ends.

    ``queries``: the queries of the kind in the plan, by id. ``partials``: the states of the queries that accepted a
    record and did not fail. ``failed``: the queries that are not counted from this batch on, with the reasons.
    ``newest_us``: the newest time of all decoded records, by the SQL of the time, then by source partition.
    """

    batch_id: int
    version: int
    topic_id: str
    first: Offsets
    end: Offsets
    waiting: frozenset[int]
    queries: Mapping[str, FoldDestination]
    partials: Mapping[str, FoldPartial]
    failed: Mapping[str, str]
    newest_us: Mapping[str, Mapping[int, int]]


class FoldTotals:
    """The numbers of records that the queries of a kind counted and excluded since the daemon started. Only one thread
    adds to them.
    """

    def __init__(self) -> None:
        self.counted = 0
        self._excluded: Counter[str] = Counter()

    @property
    def excluded(self) -> Mapping[str, int]:
        """Return the numbers of excluded records by reason."""
        return {reason: count for reason, count in self._excluded.copy().items() if count}

    def add(self, counts: FoldCounts) -> None:
        """Add the records of a query in a batch, after the records are committed."""
        self.counted += counts.counted
        self._excluded.update(counts.excluded)


class Folder(Protocol):
    """The owner of the states of one kind in a stream. One thread commits; other threads read the status."""

    @property
    def held(self) -> int | None:
        """Return the number of objects in the states, such as cells. Return None if it is not known."""

    @property
    def watermarks_us(self) -> Mapping[str, int]:
        """Return the watermark of each time expression, in microseconds, keyed by the SQL of the expression."""

    @property
    def totals(self) -> FoldTotals:
        """Return the totals of the records committed. A batch that runs again adds nothing."""

    @property
    def outputs(self) -> Mapping[str, int]:
        """Return the numbers of records written since the daemon started, by type."""

    def set_registered(
        self,
        registered: Mapping[str, int | None],
        planned: Mapping[str, FoldDestination],
        version: int,
        unserved: Mapping[str, str],
    ) -> None:
        """Set the registered queries of the kind: begin the states of planned queries, and delete the states of removed
        queries.

        ``registered``: the ``since`` of each query by id, or None if the query's record in the registry is unreadable;
        paused and unserved queries are included. ``planned``: by id, the queries in the plan of ``version``, which no
        batch has yet. ``unserved``: by id, why registered queries are not served, such as parked ones; queries of other
        kinds may be among them. If a write fails, :meth:`tidy` repeats it. Batches of earlier plans do not restore
        deleted states.
        """

    def tidy(self) -> None:
        """Repeat the writes that failed in :meth:`set_registered`. Call this often; it may have nothing to repeat."""

    def write_left(self) -> Mapping[str, str]:
        """Write a part of the outputs that the last batch left unwritten. If a batch came since the last call, write
        nothing, because the batch writes them.

        Return the queries whose outputs cannot be written, with the reasons. Call this often, between batches; it does
        nothing if no output is left. Raise BrokerError if writing is not possible now.
        """

    def kept(self, query_id: str, where: str, definition: Any, *, is_brief: bool = False) -> Mapping[str, Any] | None:
        """Return the state of one query as answers show it. Return None if nothing is known of the query.

        ``is_brief``: only the few numbers and booleans that a list of queries shows, by the names of their columns.
        These values reveal no values of records.
        """

    def refusal(self, query_id: str, where: str, definition: Any, since: int) -> QueryError | None:
        """Return the error if the state of a registered query cannot go on with another definition of the same kind.

        ``where``, ``definition``: those of the change. ``since``: that of the registration whose state would go on.
        Call this under the registrar's lock; it neither writes nor waits.
        """

    def commit(self, batch: FoldBatch) -> Mapping[str, str]:
        """Commit a batch durably. Return the queries that are not counted from this batch on, with the reasons.

        An interval of offsets that was committed before is skipped, whatever the id of its batch. An exception fails
        the batch, which then runs again.
        """

    def close(self) -> None:
        """Close open resources; a later commit opens them again."""
