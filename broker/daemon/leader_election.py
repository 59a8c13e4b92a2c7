"""Leader election among the daemons of one registry, with the checkpoint folder of the leader."""

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
"""For a round of a group that is new: brokers wait for more members, three seconds by default."""

_LOOK_S = 0.2
"""How often one that stands by looks whether it is its turn, and whether it is asked to stop."""

_CONFIRMED_WITHIN_S = 5.0
"""For two answers of Kafka, of which there is one each half second; where there are none, the folder is not taken."""

_GRACE_S = 2.0
"""For a former leader that is about to end: its folder is then free, and nothing has to be taken over."""


class LeaderElection:
    """The right to serve a registry: leadership of the daemons on it, and the checkpoint folder.

    ``stands_by``: it waits for as long as another daemon serves, and takes the folders of ``streams`` over from a
    suspended one. Otherwise it has the folder already, joins by a name of its own, and does not start beside
    another one. ``topic_id`` tells the registry from every other one, also where several have one name; None where
    Kafka gives topics no ids, and then nothing is taken over.
    """

    def __init__(
        self,
        client: KafkaClient,
        topic: str,
        lock: CheckpointLock,
        *,
        stands_by: bool,
        topic_id: str | None,
        streams: Collection[str],
    ) -> None:
        self._topic = topic
        self._topic_id = topic_id
        self._streams = streams
        self._lock = lock
        self._stands_by = stands_by
        self._leadership = Leadership(client, topic, None if stands_by else lock.instance())

    def join(self) -> None:
        """Begin to belong to the daemons on the registry; returns at once."""
        self._leadership.start()

    def leave(self) -> None:
        """Leave the group of daemons."""
        self._leadership.close()

    def wait(self, enter: Callable[[str], None], is_stopping: Callable[[], bool]) -> None:
        """Wait until this one may serve, and say by ``enter`` what it waits for.

        RegistryTakenError where another one serves and this is no standby, KafkaError where Kafka does not let it join,
        BrokerError where it is asked to stop.
        """
        if self._stands_by:
            self._stand_by(enter, is_stopping)
        else:
            enter("waiting for the registry")
            self._await_leadership()
        if self._topic_id is not None:
            self._lock.mark(self._topic_id)

    def _await_leadership(self) -> None:
        # One that was killed on another host is silent for so long before it is taken for dead.
        if self._leadership.wait(SESSION_S + _FIRST_ROUND_S):
            return
        if not self._leadership.is_member:
            said = self._leadership.problem or "Kafka does not answer"
            remedy = f"cannot be joined ({said}): has the daemon the right to read this group and the registry topic?"
            raise KafkaError("consumer group", group_of(self._topic), remedy)
        remedy = "another daemon serves it: stop that one, or start this one with --standby"
        raise RegistryTakenError("registry topic", self._topic, remedy)

    def check(self) -> None:
        """Raise RegistryTakenError where another daemon serves after this one, whose data is then out of date."""
        if self._leadership.lost or self._lock.is_lost:
            remedy = "another daemon serves it: this one stops, for what it has is out of date"
            raise RegistryTakenError("registry topic", self._topic, remedy)

    def _stand_by(self, enter: Callable[[str], None], is_stopping: Callable[[], bool]) -> None:
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
        """Take the folder that is free; CheckpointTakenError."""
        if self._topic_id is None:
            self._lock.take()
        else:
            self._lock.take_as_leader(self._topic_id, self._streams)

    def _take_over_after(self, patient_until: float) -> None:
        """Take the folder over from a former leader that does not let go, for it is suspended or cut off."""
        if time.monotonic() < patient_until or self._topic_id is None or not self._lock.is_of(self._topic_id):
            time.sleep(_LOOK_S)
            return
        # This one may have stood still itself, and another one lead and have the folder by now.
        if not self._leadership.confirmed(_CONFIRMED_WITHIN_S):
            return
        LOG.warning("the daemon that served stands still: its checkpoint folder is taken over")
        self._lock.take_over(self._topic_id, self._streams)
