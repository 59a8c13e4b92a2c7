"""The rebalance of a consumer group, for a fault of kafka-python that can end it half-way."""

from __future__ import annotations

from typing import Any


def resume_rebalance(consumer: Any) -> None:
    """Let the next poll of a group's consumer complete a rebalance that a previous poll left in progress.

    A poll with a short timeout returns while the broker still processes the consumer's JoinGroup request. When a change
    of the metadata caused the rebalance and a later refresh reverts the change, kafka-python 3.0 does not wait for the
    response again. The consumer then keeps its partitions revoked, without an error and without an end. The Java client
    had the same fault (KAFKA-9815). kafka-python has no public way to request a rebalance.

    Call this before each poll. Without a group, and in a stable group, it has no effect.
    """
    from kafka.structs import MemberState

    if consumer.group_metadata().state == MemberState.REBALANCING:
        consumer._coordinator.request_rejoin()
