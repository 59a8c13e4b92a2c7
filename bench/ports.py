"""Free ports for processes that are about to start."""

from __future__ import annotations

import socket

_HOST = "127.0.0.1"


def free_port() -> int:
    """Return a free port of this machine. No other caller gets the same port for a minute.

    A connection to the port has ended here, so the port waits (TIME_WAIT), and the system does not choose it for
    another socket. A process that names the port can listen there with SO_REUSEADDR, as Java, Kafka, Spark and the
    daemon do.

    >>> free_port() != free_port()
    True
    """
    with socket.create_server((_HOST, 0)) as server:
        port: int = server.getsockname()[1]
        with socket.create_connection((_HOST, port)):
            accepted, _ = server.accept()
            # Close this side first, because the side that closes first keeps the port in TIME_WAIT.
            accepted.close()
    return port
