"""Leader election of the daemons on one registry: Kafka gives the partition of the registry topic to the leader."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Collection
from typing import Any

from broker.failure import one_line
from broker.kafka.client import KafkaClient

LOG = logging.getLogger("asc.leadership")

SESSION_S = 10.0
"""A member that has been silent for so long has no partition any more, and another one gets it."""

_HEARTBEAT_S = 1.0
_POLL_S = 0.5
_PAUSE_S = 1.0
_NOTED_WITHIN_MS = 2_000
_LOOK_S = 0.05


def group_of(topic: str) -> str:
    """Return the name of the consumer group of the daemons on a registry topic."""
    return f"asc-daemons-{topic}"


class Leadership:
    """Membership of the group of all daemons on one registry, kept up by a thread of its own.

    Invariant: the topic has one partition, so that Kafka gives it to one member at a time; that one leads. It keeps it
    while others come and go. A member that is killed, stopped or cut off loses it after ``SESSION_S``. It knows as
    soon as it hears of Kafka again: ``lost`` is true from then on, for its data is out of date. Where nobody else
    waits, it gets the partition back and nothing was lost.

    ``instance``: a name by which a daemon that is started again takes the place of what it was at once, without waiting
    until that has been silent for long enough. No two daemons that run may have the same. One that has a name is taken
    for silent, not for gone, when it leaves. Rejected: to find out by writing (a transaction that is fenced), for a
    daemon without changes of queries does not write. Rejected too: a lease of our own in a topic, which would compare
    clocks.
    """

    def __init__(self, client: KafkaClient, topic: str, instance: str | None = None) -> None:
        self._client = client
        self._topic = topic
        self._instance = instance
        self._leads = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_up, name="leadership", daemon=True)
        self.lost = False
        """Whether another member leads after this one did."""
        self.problem: str | None = None
        """Kafka's last answer, where that was a refusal."""
        self._answers = 0
        """The number of times that Kafka said that this one leads."""
        self.is_member = False
        """Whether Kafka has said who leads."""

    def start(self) -> None:
        """Join; returns at once."""
        self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Wait until this one leads, at most for the time, and return whether it does."""
        return self._leads.wait(timeout_s)

    def confirmed(self, timeout_s: float) -> bool:
        """Return whether Kafka says that this one leads, asked from now on and answered within the time.

        Its knowledge may otherwise be as old as a suspension of the process is long.
        """
        # The next answer may be to a question that was asked before.
        wanted, until_s = self._answers + 2, time.monotonic() + timeout_s
        while self._answers < wanted and not self.lost and time.monotonic() < until_s:
            self._over.wait(_LOOK_S)
        return self._answers >= wanted and not self.lost

    def close(self) -> None:
        """Leave: another one leads at once, or in ``SESSION_S`` where this one has a name."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=5)

    def _told(self, assigned: bool) -> None:
        """Note the end of a rebalance of the group, with or without the partition for this member."""
        self.is_member, self.problem = True, None
        if assigned:
            self._leads.set()
        elif self._leads.is_set():
            self.lost = True

    def _keep_up(self) -> None:
        from kafka.errors import FencedInstanceIdError

        while not self._over.is_set() and not self.lost:
            try:
                self._belong()
            except FencedInstanceIdError:
                self.lost = True
            except Exception as error:
                said = one_line(error)
                if said != self.problem:
                    LOG.warning("registry topic '%s': who serves it cannot be told: %s", self._topic, said)
                self.problem = said
                self._over.wait(_PAUSE_S)

    def _belong(self) -> None:
        """Join the group until another member leads, or this one leaves; an error of kafka-python ends that too."""
        from kafka import ConsumerRebalanceListener, OffsetAndMetadata
        from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
        from kafka.errors import CommitFailedError, KafkaTimeoutError, RebalanceInProgressError, RetriableError

        consumer: Any = self._client.consumer(
            group_id=group_of(self._topic),
            group_instance_id=self._instance,
            session_timeout_ms=round(SESSION_S * 1000),
            heartbeat_interval_ms=round(_HEARTBEAT_S * 1000),
            partition_assignment_strategy=[StickyPartitionAssignor],
            enable_auto_commit=False,
            auto_offset_reset="latest",
        )
        told = self._told

        class Listener(ConsumerRebalanceListener):  # type: ignore[misc, unused-ignore]
            def on_partitions_assigned(self, assigned: Collection[Any]) -> None:
                # Nothing is read: the partition stands for the right to serve.
                consumer.pause(*assigned)
                told(bool(assigned))

            def on_partitions_revoked(self, revoked: Collection[Any]) -> None:
                """Ignore the beginning of a rebalance: it may well end as the last one did."""

        try:
            consumer.subscribe([self._topic], listener=Listener())
            while not self._over.is_set() and not self.lost:
                consumer.poll(timeout_ms=round(_POLL_S * 1000))
                for partition in consumer.assignment():
                    # One whose name another one bears is not told so by polling, but may note no place.
                    # Nor is a round that began meanwhile a reason to leave: another one would be given the partition.
                    with contextlib.suppress(
                        CommitFailedError, KafkaTimeoutError, RebalanceInProgressError, RetriableError
                    ):
                        consumer.commit({partition: OffsetAndMetadata(0, "", -1)}, timeout_ms=_NOTED_WITHIN_MS)
                        self._answers += 1
        finally:
            consumer.close()
