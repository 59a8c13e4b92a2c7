"""The export of batches as OpenTelemetry traces: each batch is a span, and its phases are child spans."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from broker.errors import ConfigError
from broker.failure import one_line
from broker.stream.metrics.phases import DoneBatch, Phase

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

LOG = logging.getLogger("asc.traces")

_LOGGED_EVERY_S = 60.0
_CLOSED_IN_S = 2.0
_WITHIN = {"match": "run"}
"""The phases of a batch that are part of another phase, each with the name of the containing phase."""


class BatchTraces:
    """The exporter of finished batches to an OTLP/HTTP endpoint, in a separate thread.

    OpenTelemetry takes all settings except ``endpoint`` from its environment variables: headers, certificate, timeout,
    sampler, ``OTEL_SERVICE_NAME``. Invariant: a batch never waits for the export; spans that cannot be sent are
    dropped, with one log line a minute. Cost: one span for each phase; at most 2,048 spans are queued. Raise
    ConfigError if OpenTelemetry is not installed.
    """

    def __init__(self, endpoint: str) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            remedy = "needs OpenTelemetry: pip install 'asc-broker[tracing]', or leave the key out"
            raise ConfigError("tracing.endpoint", endpoint, remedy) from error
        # This module logs one line a minute, instead of OpenTelemetry's line for each attempt.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        # The environment variable takes precedence.
        resource = Resource({"service.name": "asc-broker"}).merge(_without_default(Resource.create()))
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(
            BatchSpanProcessor(_logging_exporter(OTLPSpanExporter(endpoint=endpoint), endpoint))
        )
        self._tracer = self._provider.get_tracer("asc-broker")

    def enqueue(self, stream: str, batch: DoneBatch) -> None:
        """Queue the spans of a finished batch for export, without waiting."""
        from opentelemetry.trace import set_span_in_context

        said = {f"asc.{name}": count for name, count in batch.said.items()}
        attributes: dict[str, str | int] = {"asc.stream": stream, "asc.batch": batch.batch_id, **said}
        whole = self._tracer.start_span("batch", start_time=_ns(batch.whole.began_s), attributes=attributes)
        spans: dict[str, Any] = {}
        for name, phase in sorted(batch.phases.items(), key=lambda item: item[0] in _WITHIN):
            within = set_span_in_context(spans.get(_WITHIN.get(name, ""), whole))
            spans[name] = self._tracer.start_span(name, within, start_time=_ns(phase.began_s))
        for name, span in reversed(spans.items()):
            span.end(_ns(_end_s(batch.phases[name])))
        whole.end(_ns(max(map(_end_s, (batch.whole, *batch.phases.values())))))

    def close(self) -> None:
        """Send the queued spans, and stop. Spans that are not sent within two seconds are dropped."""
        closing = threading.Thread(target=self._provider.shutdown, name="traces: close", daemon=True)
        closing.start()
        closing.join(_CLOSED_IN_S)


def _logging_exporter(exporter: Any, endpoint: str, clock: Callable[[], float] = time.monotonic) -> Any:
    """Return an exporter that logs a failed export at most once a minute, with the error if the exporter raised one."""
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class LoggingExporter(SpanExporter):
        def __init__(self) -> None:
            self._logged_at_s: float | None = None

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            why = ""
            try:
                result: SpanExportResult = exporter.export(spans)
            except Exception as error:
                result, why = SpanExportResult.FAILURE, f": {one_line(error)}"
            now = clock()
            if result is not SpanExportResult.SUCCESS and (
                self._logged_at_s is None or now >= self._logged_at_s + _LOGGED_EVERY_S
            ):
                self._logged_at_s = now
                LOG.warning("tracing.endpoint '%s' does not take traces, which are dropped%s", endpoint, why)
            return result

        def shutdown(self) -> None:
            exporter.shutdown()

    return LoggingExporter()


def _without_default(resource: Any) -> Any:
    """Return a resource without OpenTelemetry's default service name."""
    from opentelemetry.sdk.resources import Resource

    given = dict(resource.attributes)
    if str(given.get("service.name", "")).startswith("unknown_service"):
        del given["service.name"]
    return Resource(given)


def _end_s(phase: Phase) -> float:
    return phase.began_s + phase.seconds


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
