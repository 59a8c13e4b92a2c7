"""The metrics of the daemon and its streams, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from broker.errors import BrokerError
from broker.http.metric_form import MetricForm
from broker.http.operator_metrics import OPERATOR_METRICS, OperatorMetrics
from broker.http.operators.metrics import kind_collectors, kind_metric_forms
from broker.http.request_metrics import REQUEST_METRICS, RequestCounts
from broker.http.scoped_service import ScopedService
from broker.http.stream_metrics import STREAM_METRICS, StreamMetrics
from broker.stream.stream import Stream

METRICS_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_BUILD = MetricForm("asc_build_info", "gauge", "1, with the version of the broker", ("version",))
_READY = MetricForm("asc_ready", "gauge", "1 while /readyz is 200, otherwise 0")


def metric_forms() -> tuple[MetricForm, ...]:
    """Return the forms of all metrics of the daemon.

    The metrics of the process and of Python come from prometheus_client.
    """
    return (_BUILD, _READY, *STREAM_METRICS, *OPERATOR_METRICS, *kind_metric_forms(), *REQUEST_METRICS)


def permitted_exposition(permitted: ScopedService, requests: RequestCounts, queries_max: int) -> str:
    """Return the metrics that one caller may see. Raise ForbiddenError if the caller does not see all queries of a
    stream.

    A caller that does not see all streams gets no metrics of the API's requests and of the process. While the daemon
    starts or stops, there are no streams.
    """
    permitted.check_sees_whole_streams("metrics", "use a token without id_prefix")
    streams, not_served = _streams_of(permitted)
    return exposition(
        streams,
        not_served,
        ready=permitted.readiness() is None,
        requests=requests if permitted.sees_all else None,
        queries_max=queries_max,
    )


def exposition(
    streams: Mapping[str, Stream],
    not_served: Mapping[str, int],
    *,
    ready: bool,
    requests: RequestCounts | None,
    queries_max: int,
) -> str:
    """Return all metrics with their current values, in the text format of Prometheus. The values are read from the
    running streams at each call.

    ``not_served``: the number of registered queries that no plan can contain, by stream. If ``requests`` is None, the
    metrics of the API's requests and of the process are missing. ``queries_max``: see :class:`StreamMetrics`.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Daemon(ready=ready))
    registry.register(StreamMetrics(streams, not_served, queries_max))
    registry.register(OperatorMetrics(streams))
    for collector in kind_collectors(streams):
        registry.register(collector)
    if requests is not None:
        registry.register(requests)
        for of_process in (ProcessCollector, PlatformCollector, GCCollector):
            of_process(registry=registry)
    return generate_latest(registry).decode("utf-8")


def _streams_of(permitted: ScopedService) -> tuple[Mapping[str, Stream], Mapping[str, int]]:
    try:
        return permitted.streams(), permitted.not_served()
    except BrokerError:
        return {}, {}


class _Daemon(Collector):
    def __init__(self, *, ready: bool) -> None:
        self._ready = ready

    def collect(self) -> Iterator[Metric]:
        build, ready = _BUILD.gauge(), _READY.gauge()
        build.add_metric([_version()], 1)
        ready.add_metric([], int(self._ready))
        yield from (build, ready)


def _version() -> str:
    try:
        return version("asc-broker")
    except PackageNotFoundError:
        return "unknown"
