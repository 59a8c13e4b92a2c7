"""``asc query list`` on a terminal, and of queries that are not served."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from click.testing import CliRunner

from cli.main import main

LISTED: list[dict[str, Any]] = [
    {"id": "late", "served": True, "reason": None, "paused": False, "where": "delay > 60 AND " * 20 + "delay < 90"},
    {"id": "gone", "served": False, "reason": "unknown column 'gate'", "paused": False, "where": "gate = 'A'"},
    {"id": "asleep", "served": True, "reason": None, "paused": True, "where": "delay > 1"},
]


class Page(BaseHTTPRequestHandler):
    """What a daemon answers that has these queries."""

    def do_GET(self) -> None:
        queries = [{**q, "stream": "s", "topic": f"asc.{q['id']}", "labels": {}} for q in LISTED]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"queries": queries, "cursor": None}).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as listener:
        thread = threading.Thread(target=listener.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listener.server_port}"
        listener.shutdown()
        thread.join()


def test_states_and_reasons(server: str) -> None:
    result = CliRunner().invoke(main, ["query", "list", "--server", server])
    lines = result.stdout.splitlines()
    assert [("running" in line, "not served" in line, "paused" in line) for line in lines[1:]] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]
    assert result.stderr == "warning: gone is not served: unknown column 'gate'\n"
    assert lines[1].endswith(LISTED[0]["where"])  # not on a terminal: whole


def test_lines_are_cut_to_the_width_of_the_terminal(server: str) -> None:
    code = f"from cli.main import main; main(['query', 'list', '--server', {server!r}])"
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    try:
        subprocess.run(
            [sys.executable, "-c", code], stdout=end, stderr=subprocess.DEVNULL, env=environment, check=False
        )
        lines = os.read(terminal, 10_000).decode().splitlines()
    finally:
        os.close(end)
        os.close(terminal)
    assert len(lines) == 1 + len(LISTED)
    assert lines[1].endswith(" delay > 60…")  # the next character would be a space
    assert max(map(len, lines)) <= 60
