"""When a daemon may serve: at once, after another one, or not at all."""

from __future__ import annotations

import time
from collections.abc import Callable

from broker.daemon.checkpoint_lock import CheckpointLock
from broker.errors import BrokerError, CheckpointTakenError, KafkaError, RegistryTakenError
from broker.kafka.client import KafkaClient
from broker.kafka.leadership import SESSION_S, Leadership, group_of

_FIRST_ROUND_S = 10.0
"""For a round of a group that is new: brokers wait for more members, three seconds by default."""

_LOOK_S = 0.2
"""How often one that stands by looks whether it is its turn, and whether it is asked to stop."""


class Turn:
    """The right to serve a registry: leadership of the daemons on it, and the checkpoint folder.

    ``stands_by``: it waits for as long as another daemon serves. Otherwise it has the folder already, joins by a name
    of its own, and does not start beside another one.
    """

    def __init__(self, client: KafkaClient, topic: str, lock: CheckpointLock, *, stands_by: bool) -> None:
        self._topic = topic
        self._lock = lock
        self._stands_by = stands_by
        self._leadership = Leadership(client, topic, None if stands_by else lock.instance())

    def join(self) -> None:
        """Begin to belong to the daemons on the registry; returns at once."""
        self._leadership.start()

    def leave(self) -> None:
        """Belong to them no more."""
        self._leadership.close()

    def wait(self, enter: Callable[[str], None], is_stopping: Callable[[], bool]) -> None:
        """Wait until this one may serve, and say by ``enter`` what it waits for.

        RegistryTakenError where another one serves and this is no standby, KafkaError where Kafka does not let it join,
        BrokerError where it is asked to stop.
        """
        if self._stands_by:
            self._stand_by(enter, is_stopping)
            return
        enter("waiting for the registry")
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
        """RegistryTakenError where another daemon serves after this one did: what this one has is out of date."""
        if self._leadership.lost:
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
        while not self._lock.is_held:
            try:
                self._lock.take()
            except CheckpointTakenError:
                # Of one that is not dead, but stands still: it lets go as soon as it knows that it is out of date.
                time.sleep(_LOOK_S)
            go_on()
