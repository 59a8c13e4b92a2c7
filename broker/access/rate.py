"""How often callers may ask."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

_BURST_S = 4.0
"""Of requests that a caller who was silent may make at once."""

_CALLERS_MAX = 10_000
"""That are remembered; the one that was silent for longest is forgotten, and has its burst again."""


class RequestRate:
    """A bucket for each caller, filled ``per_s`` times a second, of which a request takes one out.

    Threads may share it. Cost: some 200 bytes a caller, ``_CALLERS_MAX`` of them at most.
    """

    def __init__(self, per_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._burst = max(1.0, _BURST_S * per_s)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, caller: str) -> float:
        """Take a request out of a caller's bucket; how many seconds to wait where there is none: 0 where there was."""
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
    """Return the name of a host without a token: its address, of IPv6 its network of 64 bits.

    A socket that listens on ``::`` shows those who come by IPv4 as addresses of one such network: each is its own.

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
