"""The progress bars, for people at a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import sys
import termios
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
@pytest.mark.usefixtures("settings_of_spark")
def test_match_shows_a_bar_on_a_terminal(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "flights.ddl").write_text("delay INT", encoding="utf-8")
    (tmp_path / "queries.json").write_text('{"late": "delay > 60"}', encoding="utf-8")
    (tmp_path / "flights.csv").write_text("delay\n75\n5\n", encoding="utf-8")
    files = ["--queries", tmp_path / "queries.json", "--schema", tmp_path / "flights.ddl", tmp_path / "flights.csv"]
    screen, terminal = pty.openpty()
    # A new one has no columns, and so no room for a bar.
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    shown = bytearray()

    def read() -> None:
        try:
            while part := os.read(screen, 4096):
                shown.extend(part)
        except OSError:
            pass  # how Linux says that the other end was closed

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(terminal, "w") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        main.main(["match", *map(str, files)], standalone_mode=False)
        monkeypatch.undo()
    reader.join(10)
    os.close(screen)
    assert "2 rows read, 1 accepted" in capsys.readouterr().out
    assert b"\rmatching: " in shown
    assert b"task" in shown
