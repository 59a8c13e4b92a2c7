"""How far a transfer is: a bar for people at a terminal, lines elsewhere."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

from broker.runtime.progress import Transfer

_ON_A_TERMINAL = """
from broker.runtime.progress import Transfer
with Transfer("kafka-node", 2, 4_000_000, print) as transfer:
    transfer.advanced(1_000_000)
    transfer.finished("a.jar")
    transfer.advanced(3_000_000)
    transfer.advanced(-1)
    transfer.advanced(1)
    transfer.finished("b.jar")
"""


def test_elsewhere_than_on_a_terminal_every_jar_is_a_line() -> None:
    said: list[str] = []
    with Transfer("small", 2, 100, said.append) as transfer:
        transfer.advanced(100)
        transfer.finished("a.jar")
        transfer.finished("b.jar")
    assert said == ["    1/2 a.jar", "    2/2 b.jar"]


def test_on_a_terminal_there_is_a_bar_and_no_line() -> None:
    screen, terminal = pty.openpty()
    # A new one has no columns, and so no room for a bar.
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    run = subprocess.run([sys.executable, "-c", _ON_A_TERMINAL], stdout=subprocess.PIPE, stderr=terminal, check=True)
    os.close(terminal)
    shown = os.read(screen, 65536).decode()
    os.close(screen)
    assert run.stdout == b""
    assert "kafka-node:   0%" in shown
    assert "/4.00M" in shown
    # Gone afterwards, so that what is printed next begins a line.
    assert shown.endswith("\r")
    assert shown.rsplit("\r", 2)[1].strip() == ""
