"""Standing queries over files by Spark: the progress bar, for people at a terminal, and files that hold nothing."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import sys
import termios
import threading
from typing import TYPE_CHECKING

import pytest

from cli.main import main

if TYPE_CHECKING:
    from tests.cli.conftest import Files


def test_match_shows_a_bar_on_a_terminal(
    files: Files, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = ["--queries", files / "queries.json", "--schema", files / "flights.ddl", "--spark", files / "flights.csv"]
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
        main.main(["match", *map(str, paths)], standalone_mode=False)
        monkeypatch.undo()
    reader.join(120)
    os.close(screen)
    assert "4 rows read, 4 accepted" in capsys.readouterr().out
    assert b"\rmatching: " in shown
    assert b"task" in shown


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("header.csv", "dest,flight,delay\n", 0),
        ("empty.ndjson", "", 0),
        ("blank.ndjson", "\n\n", 0),
        ("none-accepted.ndjson", '{"dest": "ORD", "delay": 1}\n', 1),
    ],
)
def test_files_of_which_no_row_is_accepted(files: Files, name: str, content: str, rows: int) -> None:
    (files / name).write_text(content, encoding="utf-8")
    result = files.match(files / name)
    assert result.exit_code == 0, result.stderr
    _, *counts, total = result.stdout.splitlines()
    assert [line.split() for line in counts] == [[query_id, "0"] for query_id in files.counts]
    assert total == f"{rows} row{'s' * (rows != 1)} read, 0 accepted"


def test_a_pattern_that_spark_refuses_is_one_line(files: Files) -> None:
    (files / "flights.ddl").write_text("at TIMESTAMP", encoding="utf-8")
    (files / "queries.json").write_text('{"q": "at IS NULL"}', encoding="utf-8")
    (files / "rows.ndjson").write_text('{"at": "2013"}\n', encoding="utf-8")
    result = files.match("--option", "timestampFormat=YYYY", files / "rows.ndjson")
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1), result.stderr
    assert "YYYY" in result.stderr
