"""The metrics of the API itself: requests by method, route and answer, and their durations."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from broker.http.metric_form import MetricForm

OTHER = "other"
"""The label for a path that belongs neither to the API nor to the console. It is also the label for a method that HTTP
does not define.
"""

_HUNG_UP = 499
"""The status of a request whose client disconnected before the answer. It does not count as a failure of the daemon,
because any client can cause it.
"""

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_REQUESTS = MetricForm(
    "asc_api_requests_total",
    "counter",
    "Number of requests, by method, route and status. "
    f"The route is '{OTHER}' for a path outside the API and the console, "
    f"and the status is {_HUNG_UP} if the client closed the connection before the answer",
    ("method", "route", "status"),
)
_SECONDS = MetricForm(
    "asc_api_request_seconds",
    "histogram",
    "Seconds from the head of a request to the end of its answer",
    ("method", "route"),
)
REQUEST_METRICS = (_REQUESTS, _SECONDS)


class RequestCounts(Collector):
    """The Prometheus collector of the numbers and durations of requests since the daemon started.

    ``paths``: the paths of the API and the console with the names of their parameters, such as
    ``/v1/queries/{query_id}``. Invariant: no label has a value that a caller chooses, so callers cannot create series.
    Cost: one number for each method, route and status that has occurred, and one for each bucket.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        # Routes that end in a parameter come last, with the longest first, because their patterns also match the paths
        # of more specific routes.
        by_precedence = sorted(paths, key=lambda each: (each.endswith("}"), -each.count("/"), each.count("{")))
        self._routes = [(_pattern(each), each) for each in by_precedence]
        self._registry = CollectorRegistry(auto_describe=False)
        self._requests = Counter(_REQUESTS.name, _REQUESTS.text, _REQUESTS.labels, registry=self._registry)
        self._seconds = Histogram(
            _SECONDS.name, _SECONDS.text, _SECONDS.labels, buckets=_BUCKETS_S, registry=self._registry
        )

    def count(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count a request that was answered. ``seconds``: the time from its head to the end of the answer."""
        method, route = method if method in _METHODS else OTHER, self.route_of(path)
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def route_of(self, path: str) -> str:
        """Return the route that a path belongs to: the path of an endpoint with the names of its parameters. Return
        OTHER if the path belongs to no endpoint.
        """
        return next((route for pattern, route in self._routes if pattern.fullmatch(path)), OTHER)

    def collect(self) -> Iterator[Metric]:
        """Yield all of :data:`REQUEST_METRICS`."""
        for family in self._registry.collect():
            # The client library adds the creation time of each metric as another series, which nobody needs.
            family.samples = [each for each in family.samples if not each.name.endswith("_created")]
            yield family


class CountedRequests:
    """The outermost middleware: it counts every request, including refused requests."""

    def __init__(self, app: ASGIApp, counts: RequestCounts) -> None:
        self._app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start_s = time.perf_counter()
        status = _HUNG_UP

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        except Exception:
            # The middleware of Starlette outside of this one answers the error with status 500.
            status = 500 if status == _HUNG_UP else status
            raise
        finally:
            self._counts.count(scope["method"], scope["path"], status, time.perf_counter() - start_s)


def _pattern(path: str) -> re.Pattern[str]:
    """Return a pattern that matches the paths of a route. The last parameter may contain slashes, because the id of a
    query may contain them.
    """
    parts = re.split(r"\{[^}]*\}", path)
    pattern = "[^/]+".join(map(re.escape, parts))
    return re.compile(pattern.removesuffix("[^/]+") + ".+" if pattern.endswith("[^/]+") else pattern)
