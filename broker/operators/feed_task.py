"""What second queries have in common in Spark's Python workers: the messages of a feed by buckets, and what is told."""

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

from asc.operators.exclusions import Figures
from asc.operators.feed import Kind

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql.streaming.state import GroupState

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)

_ROWS = 10_000
"""Of what is told, in one piece."""

FED_DDL = "bucket INT, offset BIGINT, message BINARY"
"""The records of a feed."""

PACKED_DDL = "bucket INT, messages ARRAY<BINARY>"
"""What the function is given: of each bucket one row, with its messages in the order of the feed."""

STATE_DDL = "bucket BINARY"
"""What a bucket holds, as it says itself."""


@dataclass(frozen=True, slots=True)
class FeedTally:
    """What buckets told: the objects that each holds, and, summed up, observations, why records were none, events."""

    objects: Mapping[int, int] = field(default_factory=dict)
    observations: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    events: Mapping[Kind, int] = field(default_factory=dict)

    def merged(self, later: FeedTally) -> FeedTally:
        """Both; of the objects of a bucket what was told later."""
        return FeedTally(
            {**self.objects, **later.objects},
            self.observations + later.observations,
            Counter(self.left_out) + Counter(later.left_out),
            Counter(self.events) + Counter(later.events),
        )


class _TallyParam(AccumulatorParam[FeedTally]):
    def zero(self, value: FeedTally) -> FeedTally:
        return FeedTally()

    def addInPlace(self, value1: FeedTally, value2: FeedTally) -> FeedTally:  # noqa: N802
        return value1.merged(value2)


def feed_accumulator(context: SparkContext) -> Accumulator[FeedTally]:
    """Where the tallies of the tasks arrive."""
    return context.accumulator(FeedTally(), _TallyParam())


def packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The function of ``mapInArrow``: the records that a task has of a feed, FED_DDL, as PACKED_DDL.

    A task reads a partition, so a bucket has one row. PySpark 4.0 takes the places of groups among several rows for
    floats where there are more rows than groups (with pyarrow 26), and fails of it. Cost: what the task reads of a
    batch, once in memory.
    """
    arrived = list(batches)
    # Of a task none of whose records are for its query, Spark sends no batch at all.
    if not any(batch.num_rows for batch in arrived):
        return
    fed = pa.Table.from_batches(arrived)
    fed = fed.filter(pc.is_valid(fed["message"])).sort_by("offset")
    found = fed.group_by("bucket", use_threads=False).aggregate([("message", "list")])
    schema = pa.schema([("bucket", pa.int32()), ("messages", pa.list_(pa.binary()))])
    columns = [found["bucket"].cast(pa.int32()), found["message_list"].cast(schema.field("messages").type)]
    yield from pa.table(columns, schema=schema).combine_chunks().to_batches()


class Kept(Protocol[_T_co]):
    """What is held of a bucket, from whose messages, in order, it tells something."""

    figures: Figures

    @property
    def objects(self) -> int:
        """How many are held."""

    def read(self, texts: Iterable[str | bytes]) -> Iterator[_T_co]:
        """What the next messages make known."""

    def to_bytes(self) -> bytes:
        """What it holds, as its state."""


def bucket_task(
    tallies: Accumulator[FeedTally], kept: Callable[[bytes | None], Kept[_T]], frame: Callable[[list[_T]], pd.DataFrame]
) -> Callable[[Any, Iterable[pd.DataFrame], GroupState], Iterator[pd.DataFrame]]:
    """The function of ``applyInPandasWithState``: a group is a bucket, its state what is ``kept`` of it (bytes, None at
    first); what that tells leaves as ``frame`` makes it.
    """

    def told(group: Any, frames: Iterable[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        messages = [message for each in frames for row in each["messages"] for message in row]
        own = kept(bytes(state.get[0]) if state.exists else None)
        found = own.read(messages)
        while piece := list(islice(found, _ROWS)):
            yield frame(piece)
        state.update((own.to_bytes(),))
        figures = own.figures
        tallies.add(FeedTally({int(group[0]): own.objects}, figures.observations, figures.left_out, figures.events))

    return told
