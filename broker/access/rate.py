"""The limit of requests per second for each caller."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

_BURST_S = 4.0
"""The size of a full bucket, in seconds: a caller that was silent may send the requests of this many seconds at once.
"""

_CALLERS_MAX = 10_000
"""The largest number of callers whose buckets are stored. If there are more, the caller that was silent for longest is
forgotten, and later starts with a full bucket.
"""


class RequestRate:
    """Token bucket for each caller: the bucket gains ``per_s`` units per second, and each request takes one unit.

    Threads may share the object. Cost: some 200 bytes per caller, for at most ``_CALLERS_MAX`` callers.
    """

    def __init__(self, per_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._burst = max(1.0, _BURST_S * per_s)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, caller: str) -> float:
        """Take one unit out of a caller's bucket, and return 0. If the bucket has none, return the seconds to wait."""
        now = self._clock()
        with self._lock:
            left, at = self._buckets.pop(caller, (self._burst, now))
            left = min(self._burst, left + (now - at) * self._per_s)
            is_passed = left >= 1
            self._buckets[caller] = (left - 1 if is_passed else left, now)
            if len(self._buckets) > _CALLERS_MAX:
                self._buckets.popitem(last=False)
        return 0.0 if is_passed else (1 - left) / self._per_s


def network_of(host: str) -> str:
    """Return the name of a host that sends no token: its IPv4 address, or its IPv6 network of 64 bits.

    A socket that listens on ``::`` shows all IPv4 hosts as addresses in one IPv6 network. For such a host, return the
    IPv4 address.

    >>> network_of("10.0.0.1"), network_of("2001:db8::1:2"), network_of("testclient")
    ('10.0.0.1', '2001:db8::/64', 'testclient')
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return host if address.version == 4 else str(ipaddress.ip_network((address, 64), strict=False))
