"""Who is told of a batch, by the configuration."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from broker.config.config import parse_config
from broker.daemon.batch_reporter import BatchReporter
from broker.errors import ConfigError
from broker.stream.batch_traces import BatchTraces
from broker.stream.metrics.phases import DoneBatch, Phase

BATCH = DoneBatch(17, Phase(1_000.0, 0.75), {}, {"records": 200, "dead_letters": 1})


def reporter(**sections: Any) -> BatchReporter:
    streams = {"s": {"topic": "s", "format": "json", "schema": "n INT"}}
    return BatchReporter(parse_config({"streams": streams, **sections}))


@pytest.mark.parametrize("batches", [True, False])
def test_the_log_has_a_line_a_batch_where_it_is_asked_for(batches: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    batch_reporter = reporter(log={"batches": batches})
    batch_reporter.report("s", BATCH)
    batch_reporter.close()
    line = "stream 's': batch 17 in 0.750 s: records 200, dead letters 1"
    assert [record.getMessage() for record in caplog.records] == [line] * batches


def test_traces_are_sent_where_an_address_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="OpenTelemetry is missing")
    reported: list[tuple[str, DoneBatch]] = []
    monkeypatch.setattr(BatchTraces, "enqueue", lambda _, stream, batch: reported.append((stream, batch)))
    for sections in ({}, {"tracing": {"endpoint": "http://127.0.0.1:9/v1/traces"}}):
        one = reporter(**sections)
        one.report("s", BATCH)
        one.close()
    assert reported == [("s", BATCH)]


@pytest.mark.parametrize(
    "endpoint", ["collector:4318", "http://user:secret@c/v1/traces", "http://c/v1?key=x", "ftp://c", ""]
)
def test_what_is_no_address_is_refused_with_its_key(endpoint: str) -> None:
    with pytest.raises(ConfigError, match=r"tracing\.endpoint.*write http://host:4318/v1/traces"):
        reporter(tracing={"endpoint": endpoint})
