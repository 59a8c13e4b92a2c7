"""The Prometheus metrics of the operators of each stream, by kind of operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from broker.http.metric_form import MetricForm, filled
from broker.stream.operator_status import OperatorStatus
from broker.stream.stream import Stream

_BY_OPERATOR = ("stream", "operator")
_Values = Callable[[OperatorStatus], Mapping[tuple[str, ...], float | None]]

_FORMS: tuple[tuple[MetricForm, _Values], ...] = (
    (
        MetricForm("asc_operator_queries", "gauge", "Queries of the operator in the running plan", _BY_OPERATOR),
        lambda status: {(): status.queries},
    ),
    (
        MetricForm(
            "asc_operator_held",
            "gauge",
            "Objects, observations, points or cells in the states of an operator",
            _BY_OPERATOR,
        ),
        lambda status: {(): status.held},
    ),
    (
        MetricForm(
            "asc_operator_lag_records",
            "gauge",
            "Unread messages of the stream's feed; absent while their number is unknown, and without a feed",
            _BY_OPERATOR,
        ),
        lambda status: {(): status.lag_records},
    ),
    (
        MetricForm(
            "asc_operator_observations_total",
            "counter",
            "Records that were observations, counted once for each track or query that stores them",
            _BY_OPERATOR,
        ),
        lambda status: {(): status.observations},
    ),
    (
        MetricForm(
            "asc_operator_failures_total",
            "counter",
            "Restarts of the reader of the feed after an error",
            _BY_OPERATOR,
        ),
        lambda status: {(): status.failures},
    ),
    (
        MetricForm("asc_operator_outputs_total", "counter", "Outputs, by type", (*_BY_OPERATOR, "type")),
        lambda status: {(kind,): count for kind, count in sorted(status.outputs.items())},
    ),
    (
        MetricForm(
            "asc_operator_excluded_total",
            "counter",
            "Records that were excluded from the operator, by reason; unreadable and replaced_writer count messages of "
            "the feed, too_many_pairs counts ticks. A record counts once for each track or, for some reasons, once for "
            "each query. A message counts for the operator of its key. It counts for the first operator of the stream "
            "that was started if its key is unknown, and for each operator if it has no key or the key time",
            (*_BY_OPERATOR, "reason"),
        ),
        lambda status: {(reason,): count for reason, count in sorted(status.excluded.items())},
    ),
    (
        MetricForm(
            "asc_operator_watermark_seconds",
            "gauge",
            "Watermark in seconds since 1970, by the time expression",
            (*_BY_OPERATOR, "time"),
        ),
        lambda status: {(time,): us / 1_000_000 for time, us in sorted(status.watermarks_us.items())},
    ),
)

OPERATOR_METRICS = tuple(form for form, _ in _FORMS)


class OperatorMetrics(Collector):
    """The Prometheus collector of the operators' metrics. It reads the status of the streams at each scrape."""

    def __init__(self, streams: Mapping[str, Stream]) -> None:
        self._streams = streams

    def collect(self) -> Iterator[Metric]:
        """Yield all of :data:`OPERATOR_METRICS`, including metrics without samples."""
        statuses = {name: stream.operators() for name, stream in self._streams.items()}
        for form, values in _FORMS:
            samples = (
                ((name, op, *labels), float(value))
                for name, by_op in statuses.items()
                for op, status in by_op.items()
                for labels, value in values(status).items()
                if value is not None
            )
            yield filled(form, samples)
