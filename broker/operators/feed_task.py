"""The code that the Spark tasks of all feed readers share: messages grouped by part of the feed, and their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Accumulator, SparkContext
from pyspark.accumulators import AccumulatorParam

from asc.operators.exclusions import FeedCounts
from asc.operators.feed import Kind

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql.streaming.state import GroupState

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)

_ROWS = 10_000
"""The number of outputs in one DataFrame that a task yields."""

FED_DDL = "bucket INT, offset BIGINT, message BINARY"
"""The columns of the records of a feed. ``bucket`` is the part; states in checkpoints have had this name
since form 1.
"""

PACKED_DDL = "bucket INT, messages ARRAY<BINARY>"
"""The arguments of the function of a part: one row for each part, with its messages in the order of the feed."""

STATE_DDL = "bucket BINARY"
"""The state of a part in Spark's state store, as bytes."""


PartFunction = Callable[[Any, "Iterable[pd.DataFrame]", "GroupState"], "Iterator[pd.DataFrame]"]
"""A function for ``applyInPandasWithState``, as :func:`part_task` returns it."""

Figures = Mapping[int, Mapping[str, Mapping[str, Any]]]
"""Figures of queries, by part of the feed, query id and name. A figure is a value of the query's state or last output
that the list of queries shows.
"""


@dataclass(frozen=True, slots=True)
class FeedTally:
    """The counts of a kind: objects held by each part of the feed, observations, exclusions by reason, and outputs by
    type.

    ``latest``: by part, the figures of each query of the part: of its state, or of its last output. A negative number
    of outputs subtracts outputs that were counted before, but are not written.
    """

    held: Mapping[int, int] = field(default_factory=dict)
    observations: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    outputs: Mapping[Kind, int] = field(default_factory=dict)
    latest: Figures = field(default_factory=dict)

    def merged(self, later: FeedTally) -> FeedTally:
        """Return the sum of both tallies. The held objects of a part and the figures of its queries are those of the
        later tally if it has the part.
        """
        return FeedTally(
            {**self.held, **later.held},
            self.observations + later.observations,
            Counter(self.excluded) + Counter(later.excluded),
            Counter(self.outputs) + Counter(later.outputs),
            {**self.latest, **later.latest},
        )


class _TallyParam(AccumulatorParam[FeedTally]):
    def zero(self, value: FeedTally) -> FeedTally:
        return FeedTally()

    def addInPlace(self, value1: FeedTally, value2: FeedTally) -> FeedTally:  # noqa: N802
        return value1.merged(value2)


def feed_accumulator(context: SparkContext) -> Accumulator[FeedTally]:
    """Return the accumulator of the counts of tasks."""
    return context.accumulator(FeedTally(), _TallyParam())


def packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the records of a feed that a task reads. Their columns FED_DDL are converted to the columns PACKED_DDL.
    This is the function of ``mapInArrow``.

    A task reads one partition, so each part has one row. With more rows than groups, PySpark 4.0 (with pyarrow 26)
    fails, because it reads the row indices of groups as floats. Cost: the records that the task reads of a batch, once
    in memory.
    """
    arrived = list(batches)
    # To a task with no record for its query, Spark sends no batch at all.
    if not any(batch.num_rows for batch in arrived):
        return
    fed = pa.Table.from_batches(arrived)
    fed = fed.filter(pc.is_valid(fed["message"])).sort_by("offset")
    found = fed.group_by("bucket", use_threads=False).aggregate([("message", "list")])
    schema = pa.schema([("bucket", pa.int32()), ("messages", pa.list_(pa.binary()))])
    columns = [found["bucket"].cast(pa.int32()), found["message_list"].cast(schema.field("messages").type)]
    yield from pa.table(columns, schema=schema).combine_chunks().to_batches()


class PartState(Protocol[_T_co]):
    """The state of one part of a feed: it reads messages in order, and returns outputs."""

    @property
    def counts(self) -> FeedCounts:
        """Return the counts of the messages that were read."""

    @property
    def held(self) -> int:
        """Return the number of objects, observations or points in the state."""

    def read(self, texts: Iterable[str | bytes]) -> Iterator[_T_co]:
        """Yield the outputs of the next messages."""

    def to_bytes(self) -> bytes:
        """Return the state as bytes."""


def part_task(
    tallies: Accumulator[FeedTally],
    state_of: Callable[[bytes | None], PartState[_T]],
    frame: Callable[[list[_T]], pd.DataFrame],
) -> PartFunction:
    """Return the function of ``applyInPandasWithState``, in which a group is a part of the feed.

    ``state_of`` restores the state of a part from its previous bytes, which are None at first. ``frame`` converts
    outputs to rows.
    """

    def read(group: Any, frames: Iterable[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        messages = [message for each in frames for row in each["messages"] for message in row]
        part = state_of(bytes(state.get[0]) if state.exists else None)
        outputs = part.read(messages)
        while piece := list(islice(outputs, _ROWS)):
            yield frame(piece)
        state.update((part.to_bytes(),))
        counts, bucket = part.counts, int(group[0])
        latest = {} if counts.latest is None else {bucket: counts.latest}
        tallies.add(FeedTally({bucket: part.held}, counts.observations, counts.excluded, counts.outputs, latest))

    return read
