"""A free port is kept for the one that it was given to."""

from __future__ import annotations

import errno
import socket

import pytest

from bench.ports import free_port


def test_a_port_is_kept_from_all_but_those_who_name_it() -> None:
    port = free_port()
    with socket.socket() as other, pytest.raises(OSError, match="in use") as refused:
        other.bind(("127.0.0.1", port))
    assert refused.value.errno == errno.EADDRINUSE
    with socket.create_server(("127.0.0.1", port)) as server, socket.create_connection(("127.0.0.1", port)):
        assert server.getsockname()[1] == port
