"""A daemon in a process of its own: what ends before it is ready is told, with its last lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.ports import free_port
from broker.client.client import Client
from cli.demo.process import DemoProcess
from cli.failure import CommandError


def test_a_daemon_that_ends_at_once_is_told_with_its_last_lines(tmp_path: Path) -> None:
    config = tmp_path / "asc.toml"
    config.write_text("[kafak]\n", "utf-8")
    daemon = DemoProcess(config)
    address = f"http://127.0.0.1:{free_port()}"
    refused = pytest.raises(CommandError, match=r"kafak.*has ended")
    with Client(address) as client, refused, daemon.launched(client):
        raise AssertionError("it was not ready")
    daemon.kill()
    daemon.stop()
