"""A daemon started by ``asc serve`` as a separate process that can be killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from tools.faults.processes import descendants

_LOOK_S = 0.05
_READY_S = 600.0
_LINES_SHOWN = 40


class BrokerProcess:
    """The daemon of one configuration file; it can be started several times.

    ``address``: the address of the daemon's API. Methods raise RuntimeError, with the last lines of the daemon's log,
    if the daemon ends or is not ready in time.
    """

    def __init__(self, config: Path, address: str) -> None:
        self.log = config.with_suffix(".log")
        self.client = httpx.Client(base_url=address, timeout=30, trust_env=False)
        self._config = config
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process id of the daemon, even if it has ended. Raise RuntimeError before the first start."""
        if self._child is None:
            raise RuntimeError("the daemon was never started")
        return self._child.pid

    @property
    def runs(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def launch(self, prelude: str = "") -> None:
        """Start the daemon's process, and return before the daemon is ready. ``prelude``: Python code that the process
        runs before the daemon starts; empty for none.
        """
        program = f"{prelude}\nfrom cli.main import main; main()"
        with self.log.open("ab") as log:
            command = [sys.executable, "-c", program, "serve", "--config", str(self._config)]
            self._child = subprocess.Popen(command, stdout=log, stderr=log)

    def await_ready(self, timeout_s: float = _READY_S) -> None:
        """Wait until the daemon is ready."""
        self.await_reason(lambda reason: reason is None, timeout_s)

    def await_reason(self, wanted: Callable[[str | None], bool], timeout_s: float = _READY_S) -> None:
        """Wait until /readyz gives a reason that ``wanted`` accepts. The reason is None if the daemon is ready. While
        the daemon does not listen yet, repeat the request.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                if wanted(self.client.get("/readyz").json()["reason"]):
                    return
            except httpx.TransportError:
                pass
            if not self.runs:
                raise RuntimeError(f"the daemon has ended: {self.last_lines()}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"the daemon is not as awaited in {timeout_s:g} s: {self.last_lines()}")
            time.sleep(_LOOK_S)

    def await_end(self, timeout_s: float = 60.0) -> int:
        """Wait until the process has ended, and return its exit code."""
        assert self._child is not None
        try:
            return self._child.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"the daemon does not end in {timeout_s:g} s: {self.last_lines()}") from error

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process. Do nothing if it has ended."""
        if self.runs:
            assert self._child is not None
            self._child.send_signal(number)

    def kill(self) -> None:
        """Kill the process by SIGKILL, and wait until it has ended. Do nothing if it has ended already."""
        if self._child is not None:
            self.signal(signal.SIGKILL)
            self._child.wait()

    def jvm(self) -> int:
        """Return the process id of Spark's JVM. Raise RuntimeError if there is none."""
        for found in descendants(self.pid, "SparkSubmit"):
            return found
        raise RuntimeError(f"the daemon has no JVM: {self.last_lines()}")

    def workers(self) -> list[int]:
        """Return the ids of the Python processes in which Spark's tasks match records."""
        return descendants(self.jvm(), "python")

    def last_lines(self) -> str:
        """Return the end of the daemon's log."""
        return (
            "\n".join(self.log.read_text("utf-8", "replace").splitlines()[-_LINES_SHOWN:]) if self.log.exists() else ""
        )
