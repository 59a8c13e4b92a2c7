"""Traces of batches, as a receiver of OTLP over HTTP is given them."""

from __future__ import annotations

import logging
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from broker.errors import ConfigError
from broker.stream.batch_traces import BatchTraces, _logging_exporter
from broker.stream.metrics.phases import DoneBatch, Phase

if TYPE_CHECKING:
    from conftest import Site

needs_otel = pytest.mark.skipif(
    find_spec("opentelemetry") is None or find_spec("opentelemetry.proto") is None,
    reason="OpenTelemetry is missing: asc-broker[tracing]",
)
BATCH = DoneBatch(
    17,
    Phase(1_000.0, 0.75),
    {
        "offsets": Phase(1_000.0, 0.125),
        "run": Phase(1_000.25, 0.375),
        "match": Phase(1_000.5, 0.0625),
        "commit": Phase(1_000.625, 0.125),
    },
    {"records": 200, "plan_version": 7},
)


class Receiver:
    """Takes what is sent, decodes it, and answers with ``status``."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.status = 200
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.requests.append(ExportTraceServiceRequest.FromString(body))
                receiver.headers.append(dict(self.headers))
                self.send_response(receiver.status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}/v1/traces"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


def attributes(span: Any) -> dict[str, Any]:
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


@needs_otel
def test_a_batch_is_a_span_and_its_phases_are_within(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret")
    traces = BatchTraces(receiver.endpoint)
    traces.enqueue("s", BATCH)
    traces.close()
    spans = {span.name: span for span in receiver.spans}
    assert {name: (span.start_time_unix_nano / 1e9, span.end_time_unix_nano / 1e9) for name, span in spans.items()} == {
        "batch": (1_000.0, 1_000.75),
        "offsets": (1_000.0, 1_000.125),
        "run": (1_000.25, 1_000.625),
        "match": (1_000.5, 1_000.5625),
        "commit": (1_000.625, 1_000.75),
    }
    ids = {span.span_id: name for name, span in spans.items()}
    assert {name: ids.get(span.parent_span_id) for name, span in spans.items()} == {
        **{"batch": None, "offsets": "batch", "run": "batch", "match": "run", "commit": "batch"}
    }
    assert len({span.trace_id for span in spans.values()}) == 1
    said = {"asc.stream": "s", "asc.batch": 17, "asc.records": 200, "asc.plan_version": 7}
    assert attributes(spans["batch"]) == said
    assert attributes(receiver.requests[0].resource_spans[0].resource)["service.name"] == "asc-broker"
    assert receiver.headers[0]["authorization"] == "secret"


@needs_otel
def test_a_name_of_the_service_that_is_given_wins(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "broker-7")
    traces = BatchTraces(receiver.endpoint)
    traces.enqueue("s", BATCH)
    traces.close()
    assert attributes(receiver.requests[0].resource_spans[0].resource)["service.name"] == "broker-7"


@needs_otel
def test_a_receiver_that_does_not_answer_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waited for its answer would wait for an hour, and this test for its end."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "3600")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        traces = BatchTraces(f"http://127.0.0.1:{silent.getsockname()[1]}/v1/traces")
        for _ in range(2_000):
            traces.enqueue("s", BATCH)
        traces.close()
        asked, _ = silent.accept()
        with asked:
            assert asked.recv(4) == b"POST"


@needs_otel
def test_what_is_not_taken_is_told_once_a_minute(receiver: Receiver, caplog: pytest.LogCaptureFixture) -> None:
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class Refusing(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            if spans:
                raise OSError("no way there")
            return SpanExportResult.FAILURE

        def shutdown(self) -> None:
            """Nothing."""

    now = [0.0]
    exporter = _logging_exporter(Refusing(), "http://c/v1/traces", lambda: now[0])
    for now_s in (0.0, 1.0, 59.0, 60.0, 61.0):
        now[0] = now_s
        assert exporter.export(["span"] if now_s < 60 else []) is SpanExportResult.FAILURE
    said = [record.getMessage() for record in caplog.records if record.name == "asc.traces"]
    message = "tracing.endpoint 'http://c/v1/traces' does not take traces, which are dropped"
    assert said == [f"{message}: no way there", message]


def test_without_opentelemetry_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(ConfigError, match=r"needs OpenTelemetry: pip install 'asc-broker\[tracing\]'"):
        BatchTraces("http://c:4318/v1/traces")


@pytest.mark.nightly
@needs_otel
@pytest.mark.kafka
@pytest.mark.spark
def test_a_daemon_sends_what_its_batches_came_to(
    receiver: Receiver, site_of: Any, kafka: Any, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    from broker.config.config import parse_config

    caplog.set_level(logging.INFO, "asc.batch")
    config = parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"traced-{tmp_path.name}"},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(tmp_path / "checkpoint"), "master": "local[2]", "warm_up_s": 0},
            "log": {"batches": True},
            "tracing": {"endpoint": receiver.endpoint},
            "streams": {"traced": {"topic": f"traced-source-{tmp_path.name}", "format": "json", "schema": "n INT"}},
        }
    )
    site: Site = site_of(config)
    site.register("some", "n > 1")
    site.publish([b'{"n": %d}' % n for n in range(5)])
    deadline = time.monotonic() + 60
    while sum(attributes(span).get("asc.records", 0) for span in receiver.spans) < 5:
        assert time.monotonic() < deadline, receiver.spans
        time.sleep(0.1)
    batches = [span for span in receiver.spans if span.name == "batch"]
    counted = [attributes(span) for span in batches]
    assert {each["asc.stream"] for each in counted} == {"traced"}
    assert [sum(each[f"asc.{name}"] for each in counted) for name in ("records", "accepted", "written")] == [5, 3, 3]
    within = [span for span in receiver.spans if span.trace_id == batches[0].trace_id]
    from broker.stream.metrics.phases import PHASES

    assert {span.name for span in within} == {"batch", *PHASES} - {"hand_over", "keep"}
    for span in within:
        assert span.start_time_unix_nano >= batches[0].start_time_unix_nano - 5_000_000
        assert span.start_time_unix_nano <= span.end_time_unix_nano <= batches[0].end_time_unix_nano
    said = [record.getMessage() for record in caplog.records if record.name == "asc.batch"]
    assert len(said) == len(batches)
    assert "records 5, accepted 3, written 3, dead letters 0" in said[0] or len(said) > 1
