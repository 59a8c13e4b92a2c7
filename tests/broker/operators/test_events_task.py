"""The function that Spark's workers run for events, called as they call it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.accumulators import Accumulator

from broker.operators.events_task import EventsTally, _TallyParam, events_task, packed
from operators.feed import EventQuery, Observation, Settings

SETTINGS = Settings("flights", True, 100, (EventQuery("low", "lows", "t", ("enter", "exit"), 0, 1_000),))


class State:
    """The state of one group, as Spark's is used."""

    def __init__(self) -> None:
        self.held: tuple[Any, ...] | None = None

    @property
    def exists(self) -> bool:
        return self.held is not None

    @property
    def get(self) -> tuple[Any, ...]:
        assert self.held is not None
        return self.held

    def update(self, held: tuple[Any, ...]) -> None:
        self.held = held


def frames(*messages: str) -> Iterator[pd.DataFrame]:
    yield pd.DataFrame({"bucket": [3], "messages": [[text.encode() for text in messages]]})


def test_the_records_of_a_task_are_one_row_a_bucket_in_the_order_of_the_feed() -> None:
    schema = pa.schema([("bucket", pa.int32()), ("offset", pa.int64()), ("message", pa.binary())])
    rows = [(1, 7, b"b"), (2, 3, b"x"), (1, 6, b"a"), (1, 8, None), (2, 4, b"y")]
    batches = [
        pa.record_batch(list(map(list, zip(*part, strict=True))), schema=schema) for part in (rows[:2], rows[2:])
    ]
    (found,) = packed(iter(batches))
    told = dict(zip(found["bucket"].to_pylist(), found["messages"].to_pylist(), strict=True))
    assert told == {1: [b"a", b"b"], 2: [b"x", b"y"]}
    assert list(packed(iter([pa.record_batch([[], [], []], schema=schema)]))) == []


def test_events_come_of_the_messages_and_the_state_goes_on() -> None:
    def seen(offset: int, *accepted: str) -> str:
        return Observation("t", "a", offset, (), 0, offset, accepted).text()

    arrived = Accumulator(-1, EventsTally(), _TallyParam())
    state, task = State(), events_task(arrived)
    first = list(task((3,), frames(SETTINGS.text(), seen(1, "low"), seen(2)), state))  # type: ignore[arg-type]
    (frame,) = first
    assert frame["identity"].tolist() == ["low:enter:flights-0-1", "low:exit:flights-0-2"]
    assert frame["topic"].tolist() == ["lows", "lows"]
    assert list(task((3,), frames(seen(2, "low"), "{"), state)) == []  # type: ignore[arg-type]
    (frame,) = task((3,), frames(seen(3, "low")), state)  # type: ignore[arg-type]
    assert frame["identity"].tolist() == ["low:enter:flights-0-3"]
    assert arrived.value == EventsTally({3: 1}, 3, {"order": 1, "unreadable": 1}, {"enter": 2, "exit": 1})
