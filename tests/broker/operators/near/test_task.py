"""The function that Spark's workers run for pairs, called as they call it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.accumulators import Accumulator

from asc.operators.feed import Observation, Settings, Watermarks
from asc.operators.near.near_query import OP, NearQuery
from broker.operators.feed_task import FeedTally, _TallyParam
from broker.operators.near.task import PAIRS_DDL, near_task

SECOND = 1_000_000
QUERY = NearQuery(
    *("close", "out", "n1", "e1", ("close",), ("near", "apart")), 1_000.0, 30 * SECOND, 10 * SECOND, "a.z = b.z"
)


def test_pairs_come_of_the_messages_and_the_state_goes_on(group_state: Any) -> None:
    def seen(key: str, offset: int, second: int) -> str:
        return Observation(OP, "n1", key, second * SECOND, (7.5, 46.5), 0, offset, ("close",), carried='{"z":1}').text()

    def frames(*messages: str) -> Iterator[pd.DataFrame]:
        yield pd.DataFrame({"bucket": [3], "messages": [[text.encode() for text in messages]]})

    arrived = Accumulator(-1, FeedTally(), _TallyParam())
    state, task = group_state, near_task(arrived)
    first = frames(Settings(OP, "flights", False, 100, (QUERY.settings(),)).text(), seen("b", 1, 1), "{")
    assert list(task((3,), first, state)) == []
    (frame,) = task((3,), frames(seen("a", 2, 2), Watermarks({"e1": 11 * SECOND}).text()), state)
    assert [f"{name} STRING" for name in frame.columns] == PAIRS_DDL.split(", ")
    (row,) = frame.to_dict("records")
    assert (row["key"], row["kind"], row["condition"], row["own_a"]) == ('["a","b"]', "near", "a.z = b.z", '{"z":1}')
    assert row["other_a"] is None
    (frame,) = task((3,), frames(Watermarks({"e1": 21 * SECOND}).text()), state)
    assert sorted(zip(frame["kind"], frame["other_b"], strict=True)) == [("apart", '{"z":1}'), ("near", '{"z":1}')]
    # What is told is known when the condition is judged.
    assert arrived.value == FeedTally({3: 2}, 2, {"unreadable": 1}, {}, arrived.value.latest)
    assert arrived.value.latest.keys() == {3}
