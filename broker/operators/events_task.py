"""What runs in Spark's Python workers for events: the messages of a partition of a feed in, events out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark import Accumulator

from broker.operators.feed_task import FeedTally
from operators.events import Bucket, Event

if TYPE_CHECKING:
    from pyspark.sql.streaming.state import GroupState

EVENTS_DDL = "topic STRING, key STRING, value STRING, identity STRING, query STRING, source STRING"

_ROWS = 10_000
"""Events that leave in one piece."""


def events_task(
    tallies: Accumulator[FeedTally],
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
        tallies.add(FeedTally({int(group[0]): bucket.objects}, figures.observations, figures.left_out, figures.events))

    return told


def _frame(events: list[Event]) -> pd.DataFrame:
    names = ("topic", "key", "value", "identity", "query", "source")
    found: pd.DataFrame = pd.DataFrame({name: [getattr(event, name) for event in events] for name in names})
    return found
