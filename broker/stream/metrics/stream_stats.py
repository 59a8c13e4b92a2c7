"""The statistics of a stream's batches since the daemon started, and its lag."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.plan.plan import Plan
from broker.matching.tally import Tally
from broker.stream.metrics.delivery_counts import DeliveryCounts
from broker.stream.metrics.lag import Lag
from broker.stream.metrics.latency import Latency
from broker.stream.metrics.timeline import Moment, Timeline


class StreamStats:
    """The statistics of one stream: records in and out, latency, and deliveries by query.

    Invariant: the job is the only writer; it adds one batch at a time, after the batch's outputs are written. Cost: the
    sum of the costs of its attributes.
    """

    def __init__(self, lag: Lag, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self.lag = lag
        self.delivered = DeliveryCounts()
        self.timeline = Timeline(clock())
        self.latency = Latency.none()
        self.written = 0
        """The number of records written to destinations."""

    def count(self, plan: Plan, tally: Tally) -> None:
        """Add a batch that ran with the given plan."""
        now_s = self._clock()
        latency = Latency.of(tally.times, now_s)
        self.latency = self.latency + latency
        self.written += tally.written
        self.delivered.count(plan, tally.by_query, now_s)
        dead_letters = sum(tally.dead_letters.values())
        if tally.tuples:
            self.timeline.add(
                now_s,
                records=tally.tuples,
                accepted=tally.accepted,
                written=tally.written,
                dead_letters=dead_letters,
                latency=latency,
            )

    def rates(self) -> dict[str, Any]:
        """Return the rates: see :meth:`Timeline.rates`."""
        return self.timeline.rates(self._clock())

    def moments(self) -> list[Moment]:
        """Return the moments of the last hour in which batches finished."""
        return self.timeline.moments(self._clock())

    def minutes_of(self, query_id: str) -> list[tuple[int, int]]:
        """Return the counts of a query by minute: see :meth:`DeliveryCounts.by_minute`."""
        return self.delivered.by_minute(query_id, self._clock())

    def last_minute(self) -> tuple[pa.StringArray, npt.NDArray[np.int64]]:
        """Return the counts of all queries in the last full minute: see :meth:`DeliveryCounts.last_minute`."""
        return self.delivered.last_minute(self._clock())

    def of_last_minute(self, query_id: str) -> int:
        """Return the count of a query in the last full minute: see :meth:`DeliveryCounts.of_last_minute`."""
        return self.delivered.of_last_minute(query_id, self._clock())
