"""The function of Spark's Python workers for events: it maps the messages of a feed's part to events."""

from __future__ import annotations

import pandas as pd
from pyspark import Accumulator

from asc.operators.events.bucket import Bucket, Event
from broker.operators.feed_task import FeedTally, PartFunction, part_task

EVENTS_DDL = "topic STRING, key STRING, value STRING, identity STRING, query STRING, source STRING, kind STRING"
"""The columns of events, as in :class:`asc.operators.events.bucket.Event`."""


def events_task(tallies: Accumulator[FeedTally]) -> PartFunction:
    """Return the function of ``applyInPandasWithState``. A group is a part of the feed, and the state of a group is a
    :class:`Bucket`.
    """
    return part_task(tallies, lambda state: Bucket() if state is None else Bucket.of_bytes(state), _frame)


_NAMES = [field.split()[0] for field in EVENTS_DDL.split(", ")]


def _frame(events: list[Event]) -> pd.DataFrame:
    found: pd.DataFrame = pd.DataFrame({name: [getattr(event, name) for event in events] for name in _NAMES})
    return found
