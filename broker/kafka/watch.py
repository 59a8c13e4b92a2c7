"""A continuous check whether Kafka answers, because the traffic of an idle or waiting stream does not show it."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from broker.failure import one_line
from broker.kafka.client import KafkaClient

LOG = logging.getLogger("asc.kafka")

SILENT_AFTER_S = 8.0
"""The seconds without an answer after which Kafka counts as silent. Brokers that restart usually answer sooner."""

_ASKED_EACH_S = 2.0
_ANSWERED_WITHIN_S = 4.0


class KafkaWatch:
    """Watcher that sends Kafka a request every two seconds, in a separate thread, and records the time of the last
    answer.

    Invariant: ``problem`` is None from an answer until ``SILENT_AFTER_S`` later. The log has one line when Kafka falls
    silent, and one when it answers again.
    """

    def __init__(self, client: KafkaClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._answered_s = clock()
        self._silence = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_asking, name="kafka-watch", daemon=True)

    def start(self) -> None:
        """Start the requests in the background; return at once."""
        self._thread.start()

    def close(self) -> None:
        """Stop the requests."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=5)

    @property
    def problem(self) -> str | None:
        """The text that Kafka does not answer, since when, and the client's error. None while Kafka answers."""
        silent_s = self._clock() - self._answered_s
        if silent_s < SILENT_AFTER_S:
            return None
        because = f" ({self._silence})" if self._silence else ""
        return f"Kafka {self._client.bootstrap_servers} has not answered for {silent_s:.0f} s{because}"

    def _keep_asking(self) -> None:
        client: Any = None
        is_reported = False
        while not self._over.wait(_ASKED_EACH_S):
            try:
                client = client or self._client.admin(
                    request_timeout_ms=round(_ANSWERED_WITHIN_S * 1000),
                    bootstrap_timeout_ms=round(_ANSWERED_WITHIN_S * 1000),
                )
                client.describe_cluster()
            except Exception as error:
                self._silence = one_line(error)
                # A new client tries all addresses again without a pause.
                _close(client)
                client = None
                if not is_reported and self.problem is not None:
                    is_reported = True
                    LOG.error("%s", self.problem)
                continue
            self._answered_s = self._clock()
            if is_reported:
                is_reported = False
                LOG.info("Kafka %s answers again", self._client.bootstrap_servers)
        _close(client)


def _close(client: Any) -> None:
    if client is not None:
        # Closing a broken client may fail, too.
        with contextlib.suppress(Exception):
            client.close()
