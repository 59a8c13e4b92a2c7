"""Leader election among the daemons on one registry, including the checkpoint folder of the leader."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection

from broker.daemon.checkpoint_lock import CheckpointLock
from broker.errors import BrokerError, CheckpointTakenError, KafkaError, RegistryTakenError
from broker.kafka.client import KafkaClient
from broker.kafka.leadership import SESSION_S, Leadership, group_of

LOG = logging.getLogger("asc.daemon")

_FIRST_ROUND_S = 10.0
"""The time in seconds for the first rebalance of a new group. Kafka's brokers delay it, by default for three seconds,
to wait for more members.
"""

_LOOK_S = 0.2
"""The interval in seconds at which a standby checks whether it is the leader, and whether it must stop."""

_CONFIRMED_WITHIN_S = 5.0
"""The time in seconds in which Kafka must confirm twice that this daemon leads, before the daemon takes the checkpoint
folder over. Kafka usually answers every half second. Without two answers the folder is not taken over.
"""

_GRACE_S = 2.0
"""The time in seconds for a former leader to end and release its folder, so that no takeover is needed."""


class LeaderElection:
    """The election of the daemon that serves a registry and owns the checkpoint folder.

    ``is_standby``: this daemon waits while another daemon serves, and takes the folders of ``streams`` over if that
    daemon is suspended. Otherwise, this daemon already has the folder, joins under its own name, and does not start
    beside another one. ``topic_id`` identifies the registry, even among registries with the same name. It is None if
    Kafka has no topic ids; then nothing is taken over.
    """

    def __init__(
        self,
        client: KafkaClient,
        topic: str,
        lock: CheckpointLock,
        *,
        is_standby: bool,
        topic_id: str | None,
        streams: Collection[str],
    ) -> None:
        self._topic = topic
        self._topic_id = topic_id
        self._streams = streams
        self._lock = lock
        self._is_standby = is_standby
        self._leadership = Leadership(client, topic, None if is_standby else lock.instance())

    def join(self) -> None:
        """Start to join the group of daemons on the registry, and return at once."""
        self._leadership.start()

    def leave(self) -> None:
        """Leave the group of daemons."""
        self._leadership.close()

    def wait(self, enter: Callable[[str], None], is_stopping: Callable[[], bool]) -> None:
        """Wait until this daemon may serve. ``enter`` is called with the cause of the wait.

        Raise RegistryTakenError if another daemon serves and this one is not a standby. Raise KafkaError if Kafka does
        not let this daemon join the group. Raise BrokerError if this daemon is stopped.
        """
        if self._is_standby:
            self._wait_as_standby(enter, is_stopping)
        else:
            enter("waiting for the registry")
            self._await_leadership()
        if self._topic_id is not None:
            self._lock.mark(self._topic_id)

    def _await_leadership(self) -> None:
        # Kafka removes a killed member from the group only after the session timeout.
        if self._leadership.wait(SESSION_S + _FIRST_ROUND_S):
            return
        if not self._leadership.is_member:
            said = self._leadership.problem or "Kafka does not answer"
            remedy = f"cannot be joined ({said}): has the daemon the right to read this group and the registry topic?"
            raise KafkaError("consumer group", group_of(self._topic), remedy)
        remedy = "another daemon serves it: stop that one, or start this one with --standby"
        raise RegistryTakenError("registry topic", self._topic, remedy)

    def check(self) -> None:
        """Raise RegistryTakenError if another daemon serves the registry now. The data of this daemon is then out of
        date.
        """
        if self._leadership.lost or self._lock.is_lost:
            remedy = "another daemon serves it: this one stops, for what it has is out of date"
            raise RegistryTakenError("registry topic", self._topic, remedy)

    def _wait_as_standby(self, enter: Callable[[str], None], is_stopping: Callable[[], bool]) -> None:
        def go_on() -> None:
            if is_stopping():
                raise BrokerError("daemon", "stopped", "while it stood by")
            self.check()

        enter("standing by for another daemon")
        while not self._leadership.wait(_LOOK_S):
            go_on()
        enter("waiting for the checkpoint folder")
        patient_until = time.monotonic() + _GRACE_S
        while not self._lock.is_held:
            try:
                self._take()
            except CheckpointTakenError:
                self._take_over_after(patient_until)
            go_on()

    def _take(self) -> None:
        """Lock the free checkpoint folder. Raise CheckpointTakenError if it is locked."""
        if self._topic_id is None:
            self._lock.take()
        else:
            self._lock.take_as_leader(self._topic_id, self._streams)

    def _take_over_after(self, patient_until: float) -> None:
        """Take the folder over from a former leader that is suspended or disconnected, and does not release it."""
        if time.monotonic() < patient_until or self._topic_id is None or not self._lock.is_of(self._topic_id):
            time.sleep(_LOOK_S)
            return
        # This daemon may have been suspended too, and meanwhile another one may have become leader and taken the
        # folder.
        if not self._leadership.confirmed(_CONFIRMED_WITHIN_S):
            return
        LOG.warning("the daemon that served stands still: its checkpoint folder is taken over")
        self._lock.take_over(self._topic_id, self._streams)
