"""Spark's progress reports of a query's batches, each returned once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """A batch with records that Spark has finished. ``began_s``: its start in seconds since 1970. ``durations_ms``: the
    milliseconds of each part of the batch, by Spark's name of the part.
    """

    batch_id: int
    began_s: float
    durations_ms: Mapping[str, float]


class SparkProgress:
    """The reader of a streaming query's progress reports.

    Spark keeps the last hundred reports, including reports without records. Invariant: no batch is returned twice, even
    if the query is restarted. Cost: some calls into the JVM for each report since the last batch; nothing if no batch
    finished since.
    """

    def __init__(self) -> None:
        self._last_batch_id = -1

    def new(self, query: Any, done_batch_id: int) -> list[BatchProgress]:
        """Return the finished batches with records that were not returned yet, oldest first.

        Return none if the JVM is gone. ``done_batch_id``: the last batch that finished.
        """
        if done_batch_id <= self._last_batch_id:
            return []
        batches: list[BatchProgress] = []
        newest = self._last_batch_id
        try:
            # PySpark would make objects of all of them, each with some hundred calls into the JVM.
            recent = query._jsq.recentProgress()
            for place in range(len(recent) - 1, -1, -1):
                entry = recent[place]
                batch_id = int(entry.batchId())
                if batch_id <= self._last_batch_id:
                    break
                plain = json.loads(entry.json())
                # If a trigger had no new records, its entry has the number of the next batch.
                if "addBatch" not in plain["durationMs"]:
                    continue
                newest = max(newest, batch_id)
                if plain["numInputRows"]:
                    batches.append(BatchProgress(batch_id, _seconds(plain["timestamp"]), plain["durationMs"]))
                if batch_id == self._last_batch_id + 1:
                    break
        except Exception:
            return []
        self._last_batch_id = newest
        return batches[::-1]


def _seconds(timestamp: str) -> float:
    return datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()
