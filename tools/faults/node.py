"""A Kafka node that can be killed, suspended and restarted at the same address."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from bench.ports import free_port
from broker.kafka.embedded import EmbeddedKafka
from tools.faults.processes import children, kill


class Node:
    """One Kafka node in a folder, always at the same port. Methods that send a signal raise RuntimeError if the node
    does not run.
    """

    def __init__(self, folder: Path) -> None:
        # No setting forces a flush, because data in the system's page cache outlives a killed process. Index files are
        # small, because Kafka allocates each at full size and the disk may be small.
        settings = {"log.segment.bytes": str(4 << 20), "log.index.size.max.bytes": str(64 << 10)}
        # Keep all records for a day: the ledgers compare each window, so compaction must not remove a window before the
        # comparison.
        settings["log.cleaner.min.compaction.lag.ms"] = str(86_400_000)
        self._kafka = EmbeddedKafka(folder, port=free_port(), settings=settings)

    @property
    def bootstrap_servers(self) -> str:
        return self._kafka.bootstrap_servers

    @property
    def runs(self) -> bool:
        return self._kafka.running

    def start(self) -> None:
        """Start the node, and wait until it answers."""
        self._kafka.start()

    def stop(self) -> None:
        """Shut the node down."""
        self._kafka.stop()

    def kill(self) -> None:
        """Kill the node by SIGKILL."""
        kill(self._process())

    def suspend(self) -> None:
        """Suspend the node by SIGSTOP: it answers nothing, but its connections remain."""
        os.kill(self._process(), signal.SIGSTOP)

    def go_on(self) -> None:
        """Resume the node by SIGCONT."""
        os.kill(self._process(), signal.SIGCONT)

    def _process(self) -> int:
        supervisor = self._kafka._supervisor
        for found in [] if supervisor is None else children(supervisor.pid, "kafka.Kafka"):
            return found
        raise RuntimeError("the Kafka node does not run")
