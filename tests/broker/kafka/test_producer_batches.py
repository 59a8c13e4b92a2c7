"""Batches of the producer are as large as the least topic takes, and never larger than configured."""

from __future__ import annotations

import pytest

from broker.kafka.producer_batches import with_batches_within

OPTIONS = {"kafka.batch.size": "65536", "kafka.acks": "all"}


@pytest.mark.parametrize("limits", [[], [65_536], [1 << 20, 70_000]])
def test_options_stay_where_every_topic_takes_a_batch(limits: list[int]) -> None:
    assert with_batches_within(OPTIONS, limits) is OPTIONS


def test_the_least_limit_bounds_a_batch() -> None:
    assert with_batches_within(OPTIONS, [65_535, 1_200, 1 << 20]) == {**OPTIONS, "kafka.batch.size": "1200"}
