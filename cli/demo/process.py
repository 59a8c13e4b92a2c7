"""The daemon of a demonstration as a separate process that can be killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from broker.client.client import Client
from broker.client.errors import NoAnswerError, TooManyRequestsError, UnavailableError
from cli.failure import CommandError

_READY_S = 300.0
_LOOK_S = 1.0
_STOPPED_S = 60.0
_SAID_CHARS = 300


class DemoProcess:
    """A process of ``asc serve`` with a configuration file, which can be started several times. ``log``: the file with
    the output of the process.
    """

    def __init__(self, config: Path) -> None:
        self.log = config.with_suffix(".log")
        self._config = config
        self._child: subprocess.Popen[bytes] | None = None

    @contextmanager
    def launched(self, client: Client) -> Iterator[None]:
        """Start the daemon, wait until it is ready, and stop it at the end. Raise CommandError if it does not become
        ready.
        """
        with self.log.open("ab") as log:
            command = [
                sys.executable,
                "-c",
                "from cli.main import main; main()",
                "serve",
                "--config",
                str(self._config),
            ]
            self._child = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            self._await_ready(client)
            yield
        finally:
            self.stop()

    def kill(self) -> None:
        """Kill the daemon at once, as ``kill -9`` does."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()

    def stop(self) -> None:
        """Shut the daemon down. Do nothing if it has ended."""
        if self._child is None or self._child.poll() is not None:
            return
        self._child.terminate()
        try:
            self._child.wait(timeout=_STOPPED_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def _await_ready(self, client: Client) -> None:
        give_up = time.monotonic() + _READY_S
        while not self._is_ready(client):
            is_gone = self._child is not None and self._child.poll() is not None
            if is_gone or time.monotonic() > give_up:
                said = self.log.read_text("utf-8", "replace").strip()[-_SAID_CHARS:]
                raise CommandError("daemon", said, f"{'has ended' if is_gone else 'is not ready'}: see its last lines")

    def _is_ready(self, client: Client) -> bool:
        try:
            return client.wait_until_ready(_LOOK_S)["ready"]
        except (NoAnswerError, TooManyRequestsError, UnavailableError):
            return False
