"""What runs in Spark's Python workers for events: the messages of a partition of a feed in, events out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Accumulator, SparkContext
from pyspark.accumulators import AccumulatorParam

from operators.events import Bucket, Event
from operators.feed import Kind

if TYPE_CHECKING:
    from pyspark.sql.streaming.state import GroupState

FED_DDL = "bucket INT, offset BIGINT, message BINARY"
"""The records of a feed."""

PACKED_DDL = "bucket INT, messages ARRAY<BINARY>"
"""What the function is given: of each bucket one row, with its messages in the order of the feed."""

EVENTS_DDL = "topic STRING, key STRING, value STRING, identity STRING, query STRING, source STRING"
STATE_DDL = "bucket BINARY"

_ROWS = 10_000
"""Events that leave in one piece."""


@dataclass(frozen=True, slots=True)
class EventsTally:
    """What buckets told: the objects that each holds, and, summed up, observations, why records were none, events."""

    objects: Mapping[int, int] = field(default_factory=dict)
    observations: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    events: Mapping[Kind, int] = field(default_factory=dict)

    def merged(self, later: EventsTally) -> EventsTally:
        """Both; of the objects of a bucket what was told later."""
        return EventsTally(
            {**self.objects, **later.objects},
            self.observations + later.observations,
            Counter(self.left_out) + Counter(later.left_out),
            Counter(self.events) + Counter(later.events),
        )


class _TallyParam(AccumulatorParam[EventsTally]):
    def zero(self, value: EventsTally) -> EventsTally:
        return EventsTally()

    def addInPlace(self, value1: EventsTally, value2: EventsTally) -> EventsTally:  # noqa: N802
        return value1.merged(value2)


def events_accumulator(context: SparkContext) -> Accumulator[EventsTally]:
    """Where the tallies of the tasks arrive."""
    return context.accumulator(EventsTally(), _TallyParam())


def packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The function of ``mapInArrow``: the records that a task has of a feed, FED_DDL, as PACKED_DDL.

    A task reads a partition, so a bucket has one row. PySpark 4.0 takes the places of groups among several rows for
    floats where there are more rows than groups (with pyarrow 26), and fails of it. Cost: what the task reads of a
    batch, once in memory.
    """
    fed = pa.Table.from_batches(list(batches))
    if not fed.num_rows:
        return
    fed = fed.filter(pc.is_valid(fed["message"])).sort_by("offset")
    found = fed.group_by("bucket", use_threads=False).aggregate([("message", "list")])
    schema = pa.schema([("bucket", pa.int32()), ("messages", pa.list_(pa.binary()))])
    columns = [found["bucket"].cast(pa.int32()), found["message_list"].cast(schema.field("messages").type)]
    yield from pa.table(columns, schema=schema).combine_chunks().to_batches()


def events_task(
    tallies: Accumulator[EventsTally],
) -> Callable[[Any, Iterable[pd.DataFrame], GroupState], Iterator[pd.DataFrame]]:
    """The function of ``applyInPandasWithState``: a group is a bucket, its state what the bucket says (bytes)."""

    def told(group: Any, frames: Iterable[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        messages = [message for frame in frames for row in frame["messages"] for message in row]
        bucket = Bucket.of_bytes(bytes(state.get[0])) if state.exists else Bucket()
        events = bucket.read(messages)
        while piece := list(islice(events, _ROWS)):
            yield _frame(piece)
        state.update((bucket.to_bytes(),))
        figures = bucket.figures
        tallies.add(
            EventsTally({int(group[0]): bucket.objects}, figures.observations, figures.left_out, figures.events)
        )

    return told


def _frame(events: list[Event]) -> pd.DataFrame:
    names = ("topic", "key", "value", "identity", "query", "source")
    found: pd.DataFrame = pd.DataFrame({name: [getattr(event, name) for event in events] for name in names})
    return found
