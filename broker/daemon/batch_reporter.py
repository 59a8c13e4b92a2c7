"""Reports of finished batches to the log and to traces, as configured."""

from __future__ import annotations

import logging

from broker.config.config import Config
from broker.stream.batch_traces import BatchTraces
from broker.stream.metrics.phases import DoneBatch

LOG = logging.getLogger("asc.batch")


class BatchReporter:
    """The reporter of finished batches with records, for all streams.

    Raise ConfigError if traces are configured and OpenTelemetry is not installed.
    """

    def __init__(self, config: Config) -> None:
        self._logs = config.log.batches
        endpoint = config.tracing.endpoint
        self._traces = None if endpoint is None else BatchTraces(endpoint)

    def report(self, stream: str, batch: DoneBatch) -> None:
        """Report a finished batch of a stream with all its counts, and return at once."""
        if self._logs:
            said = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in batch.said.items())
            LOG.info("stream '%s': batch %d in %.3f s: %s", stream, batch.batch_id, batch.whole.seconds, said)
        if self._traces is not None:
            self._traces.enqueue(stream, batch)

    def close(self) -> None:
        """Send waiting reports, and stop within two seconds."""
        if self._traces is not None:
            self._traces.close()
