"""Messages for the readers of a feed are the same for a seed; many are read, and many are not."""

from __future__ import annotations

import random

import pytest

from asc.errors import FeedFormError
from asc.operators.events.bucket import Bucket
from asc.operators.near.ticks import Ticks
from tools.fuzz.feed_messages import messages_of


@pytest.mark.parametrize(("op", "part"), [("events", Bucket), ("near", Ticks)])
def test_messages_are_repeatable_and_bring_observations(op: str, part: type[Bucket | Ticks]) -> None:
    observations = unreadable = 0
    for seed in range(5):
        messages = messages_of(random.Random(seed), op, 100)
        assert messages == messages_of(random.Random(seed), op, 100)
        read = part()
        for message in messages:
            try:
                list(read.read([message]))
            except FeedFormError:
                continue
        observations += read.counts.observations
        unreadable += read.counts.excluded["unreadable"]
    assert observations > 10
    assert 10 < unreadable < 400
