"""The progress bars, for people at a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    (tmp_path / "flights.ddl").write_text("delay INT", encoding="utf-8")
    (tmp_path / "queries.json").write_text('{"late": "delay > 60"}', encoding="utf-8")
    (tmp_path / "flights.csv").write_text("delay\n75\n5\n", encoding="utf-8")
    files = ["--queries", tmp_path / "queries.json", "--schema", tmp_path / "flights.ddl", tmp_path / "flights.csv"]
    return [sys.executable, "-c", "from cli.main import main; main()", "match", *map(str, files)]


def on_a_terminal(command: list[str]) -> tuple[str, str]:
    """Its output, and what it shows on a terminal."""
    screen, terminal = pty.openpty()
    # A new one has no columns, and so no room for a bar.
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, text=True) as process:
        os.close(terminal)
        shown = bytearray()
        try:
            while part := os.read(screen, 4096):
                shown += part
        except OSError:
            pass  # how Linux says that the other end was closed
        finally:
            os.close(screen)
        assert process.stdout is not None
        output = process.stdout.read()
    assert process.returncode == 0, shown.decode()
    return output, shown.decode()


def test_match_shows_a_bar_on_a_terminal(command: list[str]) -> None:
    output, shown = on_a_terminal(command)
    assert "2 rows read, 1 accepted" in output
    assert "\rmatching: " in shown
    assert "task" in shown
