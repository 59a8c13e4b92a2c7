"""The function that Spark's workers run for events, called as they call it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.accumulators import Accumulator

from asc.operators.events.event_query import OP, EventQuery
from asc.operators.feed import Observation, Settings
from asc.operators.feed_claim import claim_of
from broker.operators.events.task import events_task
from broker.operators.feed_task import FeedTally, _TallyParam

QUERY = EventQuery("low", "lows", "t", "e1", ("low",), ("enter", "exit"), 0, 1_000)
SETTINGS = Settings(OP, "flights", True, 100, (QUERY.settings(),))


def frames(*messages: str) -> Iterator[pd.DataFrame]:
    yield pd.DataFrame({"bucket": [3], "messages": [[text.encode() for text in messages]]})


def test_events_come_of_the_messages_and_the_state_goes_on(group_state: Any) -> None:
    def seen(offset: int, *accepted: str) -> str:
        return Observation(OP, "t", "a", offset, (), 0, offset, accepted).text()

    arrived = Accumulator(-1, FeedTally(), _TallyParam())
    state, task = group_state, events_task(arrived)
    first = list(task((3,), frames(SETTINGS.text(), seen(1, "low"), seen(2)), state))
    (frame,) = first
    assert frame["identity"].tolist() == ["low:enter:flights-0-1", "low:exit:flights-0-2"]
    assert frame["topic"].tolist() == ["lows", "lows"]
    assert list(task((3,), frames(seen(2, "low"), "{"), state)) == []
    (frame,) = task((3,), frames(seen(3, "low")), state)
    assert frame["identity"].tolist() == ["low:enter:flights-0-3"]
    outputs = {"enter": 2, "exit": 1}
    assert arrived.value.latest.keys() == {3}
    assert arrived.value == FeedTally({3: 1}, 3, {"unordered": 1, "unreadable": 1}, outputs, arrived.value.latest)


def test_a_state_knows_whose_messages_count(group_state: Any) -> None:
    def seen(offset: int, writer: str) -> str:
        return Observation(OP, "t", "a", offset, (), 0, offset, ("low",)).text(writer)

    state, task = group_state, events_task(Accumulator(-1, FeedTally(), _TallyParam()))
    leader = SETTINGS.text("leader")
    assert list(task((3,), frames(claim_of("stopped"), SETTINGS.text("stopped")), state)) == []
    assert list(task((3,), frames(claim_of("leader"), leader, seen(1, "stopped")), state)) == []
    assert list(task((3,), frames(seen(2, "stopped")), state)) == []
    (frame,) = task((3,), frames(seen(3, "leader")), state)
    assert frame["identity"].tolist() == ["low:enter:flights-0-3"]
