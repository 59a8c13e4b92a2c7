"""Messages for the readers of a feed are the same for a seed; many are read, and many are not."""

from __future__ import annotations

import random

import pytest

from asc.errors import FeedFormError
from broker.operators.kinds import feed_kinds
from tools.fuzz.feed_messages import messages_of


@pytest.mark.parametrize("op", feed_kinds())
def test_messages_are_repeatable_and_bring_observations(op: str) -> None:
    observations = unreadable = outputs = 0
    for seed in range(5):
        messages = messages_of(random.Random(seed), op, 100)
        assert messages == messages_of(random.Random(seed), op, 100)
        read = feed_kinds()[op].part(None)
        for message in messages:
            try:
                outputs += len(list(read.read([message])))
            except FeedFormError:
                continue
        observations += read.counts.observations
        unreadable += read.counts.excluded["unreadable"]
    assert observations > 10
    assert outputs > 3
    assert 10 < unreadable < 400
