"""Leader election among the daemons of one registry: the leader is the member to which Kafka assigns its partition."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Collection
from typing import Any

from broker.failure import one_line
from broker.kafka.client import KafkaClient
from broker.kafka.rebalance import resume_rebalance

LOG = logging.getLogger("asc.leadership")

SESSION_S = 10.0
"""The seconds of silence after which a member loses the partition to another member."""

_HEARTBEAT_S = 1.0
_POLL_S = 0.5
_PAUSE_S = 1.0
_NOTED_WITHIN_MS = 2_000
_LOOK_S = 0.05


def group_of(topic: str) -> str:
    """Return the name of the consumer group of all daemons on a registry topic."""
    return f"asc-daemons-{topic}"


class Leadership:
    """Membership in the consumer group of all daemons on one registry, maintained by a separate thread.

    Invariant: the topic has one partition, so Kafka assigns it to one member at a time, the leader. The leader keeps it
    while others join and leave. A member that is killed, stopped or disconnected loses it after ``SESSION_S``. The
    member detects that when it reaches Kafka again: ``lost`` is true from then on, because its data is out of date. If
    no other member waits, the member gets the partition back and nothing is lost.

    ``instance``: a name with which a restarted daemon replaces its earlier membership at once, without waiting for the
    session to expire. Running daemons must not share a name. When a member with a name leaves, Kafka treats it as
    silent, not as gone. Rejected: detection by a fenced transaction, because a daemon without changes of queries does
    not write. Rejected too: a lease in a topic, which would compare clocks.
    """

    def __init__(self, client: KafkaClient, topic: str, instance: str | None = None) -> None:
        self._client = client
        self._topic = topic
        self._instance = instance
        self._leads = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_up, name="leadership", daemon=True)
        self.lost = False
        """True once another member has become the leader after this one."""
        self.problem: str | None = None
        """The text of Kafka's last answer if it refused a request of this member; otherwise None."""
        self._answers = 0
        """The number of times that Kafka named this member as the leader."""
        self.is_member = False
        """True once Kafka has named a leader."""

    def start(self) -> None:
        """Join the group in the background; return at once."""
        self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Wait at most ``timeout_s`` until this member leads, and return whether it leads."""
        return self._leads.wait(timeout_s)

    def confirmed(self, timeout_s: float) -> bool:
        """Return whether Kafka confirms, in an answer to a new request within the time, that this member leads. Without
        a new request, this process may rely on an answer from before it was suspended.
        """
        # The next answer may belong to an earlier request, so wait for two.
        wanted, until_s = self._answers + 2, time.monotonic() + timeout_s
        while self._answers < wanted and not self.lost and time.monotonic() < until_s:
            self._over.wait(_LOOK_S)
        return self._answers >= wanted and not self.lost

    def close(self) -> None:
        """Leave the group. Another member leads at once, or after ``SESSION_S`` if this member has a name."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=5)

    def _note_rebalance(self, assigned: bool) -> None:
        """Record the end of a rebalance of the group. ``assigned``: whether this member has the partition afterwards,
        and so leads.
        """
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
        """Keep the membership until another member leads, this one leaves, or kafka-python raises an error."""
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
        note_rebalance = self._note_rebalance

        class Listener(ConsumerRebalanceListener):  # type: ignore[misc, unused-ignore]
            def on_partitions_assigned(self, assigned: Collection[Any]) -> None:
                # No records are read. The assigned partition only means the right to serve.
                consumer.pause(*assigned)
                note_rebalance(bool(assigned))

            def on_partitions_revoked(self, revoked: Collection[Any]) -> None:
                """Ignore the beginning of a rebalance: it may end with the same assignment."""

        try:
            consumer.subscribe([self._topic], listener=Listener())
            while not self._over.is_set() and not self.lost:
                resume_rebalance(consumer)
                consumer.poll(timeout_ms=round(_POLL_S * 1000))
                for partition in consumer.assignment():
                    # If another member has the same name, polling does not fail, but committing an offset does.
                    # A rebalance that has started meanwhile is no reason to leave: Kafka would assign the partition to
                    # another member.
                    with contextlib.suppress(
                        CommitFailedError, KafkaTimeoutError, RebalanceInProgressError, RetriableError
                    ):
                        consumer.commit({partition: OffsetAndMetadata(0, "", -1)}, timeout_ms=_NOTED_WITHIN_MS)
                        self._answers += 1
        finally:
            consumer.close()
