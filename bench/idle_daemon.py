"""A daemon with a separate Kafka and an idle stream, for measurements of its API."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from pyspark.sql import SparkSession

from broker.config.config import parse_config
from broker.daemon.daemon import Daemon
from broker.kafka.embedded import EmbeddedKafka

_READY_S = 120.0
_REQUEST_S = 600.0


@contextmanager
def idle_daemon(spark: SparkSession, folder: Path, stream: str, schema_file: Path) -> Iterator[Daemon]:
    """Start a daemon with one JSON stream without records, and yield the daemon when it is ready. Raise RuntimeError if
    the daemon is not ready within two minutes.
    """
    with EmbeddedKafka(folder / "kafka") as kafka:
        config = parse_config(
            {
                "kafka": {"bootstrap_servers": kafka.bootstrap_servers},
                "api": {"port": 0},
                "spark": {"checkpoint_dir": str(folder / "checkpoint")},
                "streams": {stream: {"topic": "tuples", "format": "json", "schema_file": str(schema_file)}},
            }
        )
        daemon = Daemon(config, spark=spark)
        daemon.start()
        try:
            deadline = time.monotonic() + _READY_S
            while (missing := daemon.readiness()) is not None:
                if time.monotonic() > deadline:
                    raise RuntimeError(f"the daemon is not ready after {_READY_S:.0f} s: {missing}")
                time.sleep(0.1)
            yield daemon
        finally:
            daemon.stop()


def client_of(daemon: Daemon) -> httpx.Client:
    """Return an HTTP client of a daemon's API."""
    # Ignore the proxy settings of the environment, because a proxy cannot reach a loopback address.
    return httpx.Client(base_url=daemon.url, timeout=_REQUEST_S, trust_env=False)
