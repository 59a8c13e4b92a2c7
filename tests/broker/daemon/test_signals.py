"""Signals that come while others are handled."""

from __future__ import annotations

import signal
import subprocess
import sys

_PROGRAM = """
from broker.daemon.signals import Signals

signals = Signals()
signals.take_over()
print("handles", flush=True)
hang_ups = 0
while signals.stop is None:
    signals.wait(60)
    hang_ups += signals.take_hang_up()
assert hang_ups and not signals.take_hang_up()
print(signals.stop.name)
"""


def test_signals_that_interrupt_their_handlers_are_taken_in() -> None:
    child = subprocess.Popen([sys.executable, "-c", _PROGRAM], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "handles\n"
        for _ in range(20_000):
            child.send_signal(signal.SIGHUP)
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=30)[0] == "SIGINT\n"
    finally:
        child.kill()
        child.wait()
