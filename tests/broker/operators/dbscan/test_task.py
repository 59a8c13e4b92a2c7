"""The function that Spark's workers run for clusters, called as they call it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.accumulators import Accumulator

from asc.operators.feed import Watermarks
from broker.operators.dbscan.task import RECORDS_DDL, WARM_DDL, dbscan_task, warmed
from broker.operators.dbscan.worker_parts import WorkerParts
from broker.operators.feed_task import FeedTally, _TallyParam
from tests.asc.operators.dbscan.model import MS, Record, query, settings


def frames(*messages: str) -> Iterator[pd.DataFrame]:
    yield pd.DataFrame({"bucket": [3], "messages": [[text.encode() for text in messages]]})


def test_windows_come_of_the_messages_and_the_state_goes_on(group_state: Any) -> None:
    tallies = Accumulator(-1, FeedTally(), _TallyParam())
    # A broadcast has the value of its process.
    parts: Any = SimpleNamespace(value=WorkerParts())
    task = dbscan_task(tallies, parts)
    seen = [Record(MS * 11, (0.0, 0.0), offset=number).message().text() for number in range(4)]
    assert list(task((3,), frames(settings(query()).text(), *seen, "{"), group_state)) == []
    # Another worker has the state alone.
    parts.value = WorkerParts()
    (frame,) = task((3,), frames(seen[0], Watermarks({"ts": 21 * MS}).text()), group_state)
    assert [f"{name} STRING" for name in frame.columns] == RECORDS_DDL.split(", ")
    assert frame["identity"].tolist() == ["timed:20:20-0", "timed:20"]
    assert frame["key"].tolist() == ["timed", "timed"]
    assert json.loads(frame["value"][0])["points"] == 4
    counts = tallies.value
    assert (counts.held, counts.observations, counts.excluded) == ({3: 4}, 4, {"unreadable": 1})
    assert counts.outputs == {"cluster": 1, "window": 1}
    assert counts.latest == {3: {"timed": {"clusters": 1, "noise": 0, "end": "1970-01-01T00:00:00.020000Z"}}}


def test_a_worker_is_warmed_by_windows_of_made_up_points() -> None:
    rows = pa.record_batch({"id": [0]})
    (batch,) = warmed(iter([rows]))
    assert [f"{name} BIGINT" for name in batch.schema.names] == [WARM_DDL]
    assert batch["records"].to_pylist()[0] > 0
