"""Free ports for processes that are about to start."""

from __future__ import annotations

import socket

_HOST = "127.0.0.1"


def free_port() -> int:
    """Return a port of this machine that nobody else is given for a minute.

    A connection to it has ended here, so that it waits (TIME_WAIT): the system passes it over where it chooses a port.
    The system lets a process that names it listen there with SO_REUSEADDR, as Java, Kafka, Spark and the daemon do.

    >>> free_port() != free_port()
    True
    """
    with socket.create_server((_HOST, 0)) as server:
        port: int = server.getsockname()[1]
        with socket.create_connection((_HOST, port)):
            accepted, _ = server.accept()
            # The side that ends it first is the one that waits.
            accepted.close()
    return port
