"""The listening socket of the API. It limits the connections in total and for each host. A few connections beyond the
limits are accepted too, to answer health checks and to refuse other requests with a reason.
"""

from __future__ import annotations

import errno
import logging
import resource
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from broker.access.rate import network_of
from broker.config.sections import ApiConfig
from broker.errors import BrokerError, TooManyConnectionsError

LOG = logging.getLogger("asc.api")

_BACKLOG = 2048
_NONE_LEFT = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_RETRIED_S = 0.5
"""The seconds after a failed ``accept`` because no descriptor was free. Further failures in this time are not reported
to asyncio, which would log each of them.
"""


_SPARE_CONNECTIONS = 64
"""The most spare connections: connections beyond the limits, for health checks and refusals."""

_SPARE_AT_ONCE = 4
"""The number of spare connections that are accepted in a row before the event loop reads from the existing ones. So the
event loop has read several times from each connection before the connection is the oldest and may be closed.
"""


class Listener(socket.socket):
    """A listening socket that limits connections. A connection counts from ``accept`` to ``close``, including its TLS
    handshake.

    At most ``api.max_connections`` are served, and at most ``api.max_connections_per_host`` of one host. The first
    limit is never more than half of the file descriptors that the process may open, because the rest of the daemon
    needs the other half.

    Connections beyond these limits are spare: they answer health checks, and refuse any other request with the limit
    that is exceeded (:meth:`refusal_of`). They close after one answer. If all spare connections are in use, a new
    connection replaces the oldest spare connection of the host that has the most. So silent clients cannot block health
    checks.
    """

    def __init__(self, family: int, kind: int, protocol: int, api: ApiConfig) -> None:
        super().__init__(family, kind, protocol)
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._max_connections, self._max_spare = api.max_connections, _SPARE_CONNECTIONS
        if descriptors != resource.RLIM_INFINITY:
            self._max_spare = max(1, min(_SPARE_CONNECTIONS, descriptors // 8))
            if self._max_connections > descriptors // 2:
                self._max_connections = max(1, descriptors // 2)
                message = "api.max_connections %d: %d are let in, half of the files that may be open (ulimit -n)"
                LOG.warning(message, api.max_connections, self._max_connections)
        self._max_of_host = api.max_connections_per_host
        self._served: Counter[str] = Counter()
        self._spare: dict[_Connection, None] = {}
        self._spare_in_a_row = 0
        self._by_descriptor: WeakValueDictionary[int, _Connection] = WeakValueDictionary()
        self._exhausted_at_s = -_RETRIED_S

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection, and the client's address."""
        if self._spare_in_a_row == _SPARE_AT_ONCE:
            self._spare_in_a_row = 0
            # With this exception, asyncio stops accepting, processes the accepted connections, and then calls
            # ``accept`` again.
            raise BlockingIOError
        try:
            accepted, address = super().accept()
        except OSError as error:
            self._spare_in_a_row = 0
            if error.errno not in _NONE_LEFT:
                raise
            now_s = time.monotonic()
            if now_s - self._exhausted_at_s < _RETRIED_S:
                # With the original error, asyncio would try each waiting connection, and log thousands of errors.
                raise BlockingIOError from error
            self._exhausted_at_s = now_s
            raise
        host = network_of(address[0])
        connection = _Connection(accepted, host, self._crowded(host), self._forget)
        if connection.refusal is None:
            self._served[host] += 1
        else:
            self._close_spare()
            self._spare[connection] = None
            self._spare_in_a_row += 1
        self._by_descriptor[connection.fileno()] = connection
        return connection, address

    def refusal_of(self, descriptor: int) -> BrokerError | None:
        """Return the error with which requests on a spare connection are refused; the error names the exceeded limit.
        Return None for a regular connection. ``descriptor``: the file descriptor of the connection.
        """
        connection = self._by_descriptor.get(descriptor)
        return None if connection is None else connection.refusal

    def _crowded(self, host: str) -> BrokerError | None:
        most = self._max_of_host
        if self._served[host] >= most:
            remedy = "are open: close some, or raise api.max_connections_per_host"
            return TooManyConnectionsError(f"connections of {host}", most, remedy)
        most = self._max_connections
        if self._served.total() >= most:
            return BrokerError("connections", most, "are open: try again in a moment, or raise api.max_connections")
        return None

    def _close_spare(self) -> None:
        """Close the oldest spare connection of the host that has the most, if the number of spare connections has
        reached its limit.
        """
        if len(self._spare) < self._max_spare:
            return
        of_host = Counter(one.host for one in self._spare)
        most = max(of_host.values())
        oldest = next(one for one in self._spare if of_host[one.host] == most)
        del self._spare[oldest]
        # Only shut the connection down: asyncio manages its descriptor, and closes it after it has read the end of the
        # connection.
        with suppress(OSError):
            oldest.shutdown(socket.SHUT_RDWR)

    def _forget(self, connection: _Connection) -> None:
        if connection.refusal is None:
            self._served[connection.host] -= 1
            if not self._served[connection.host]:
                del self._served[connection.host]
        else:
            self._spare.pop(connection, None)


class _Connection(socket.socket):
    """A connection that counts as open until it is closed or garbage-collected. ``refusal``: the error for its
    requests; None for a regular connection. ``left``: called when the connection ends.
    """

    def __init__(
        self,
        accepted: socket.socket,
        host: str,
        refusal: BrokerError | None,
        left: Callable[[_Connection], None],
    ) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
        self.host = host
        self.refusal = refusal
        self._left: Callable[[_Connection], None] | None = left

    def close(self) -> None:
        left, self._left = self._left, None
        if left is not None:
            left(self)
        super().close()

    def __del__(self) -> None:
        self.close()


def listen(api: ApiConfig) -> Listener:
    """Listen on the API's address. Raise BrokerError if the address is not available."""
    host, port = api.host, api.port
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise BrokerError("api.host", host, f"is not an address of this machine: {error.strerror}") from error
    listener = Listener(family, kind, protocol, api)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        # A client that connects before the loop runs waits in the backlog.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        remedy = f"cannot be bound ({error.strerror}): stop what listens there, or set another api.port"
        raise BrokerError("API address", f"{host}:{port}", remedy) from error
    return listener
