"""The daemon of a demonstration, with its own Kafka and Spark in a temporary folder, and the records that
it delivers.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from broker.client.client import Client
from broker.consuming.consume import delivery_of
from cli.record_output import record_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUIET_S = 2.0
"""The number of seconds without a record after which a demonstration ends the wait, if all expected records have
arrived. The wait detects surplus records.
"""

PATIENCE_S = 60.0
"""The number of seconds without a record after which a demonstration ends the wait, if expected records are missing."""

Topics = dict[str, list[dict[str, Any]]]


@contextmanager
def demo_daemon(tables: Mapping[str, Any]) -> Iterator[tuple[Client, SparkSession]]:
    """Start a daemon with the configuration tables ``tables``, and yield a client of the daemon and its Spark session.
    At the end, stop both, and remove all files.
    """
    from broker.config.config import parse_config
    from broker.daemon.daemon import Daemon
    from broker.runtime.spark import spark_session

    say("starting Spark, an embedded Kafka and the daemon ...")
    with tempfile.TemporaryDirectory(prefix="asc-demo-") as name:
        folder = Path(name)
        spark = spark_session(app_name="asc-demo", master="local[2]", time_zone="UTC", progress=say)
        config = parse_config(
            {
                "kafka": {"data_dir": str(folder / "kafka"), "partitions": 1},
                "api": {"port": 0},
                "spark": {"checkpoint_dir": str(folder / "checkpoint"), "time_zone": "UTC"},
                **tables,
            }
        )
        daemon = Daemon(config, spark=spark)
        try:
            daemon.start()
            with Client(daemon.url, token=config.token()) as client:
                yield client, spark
        finally:
            daemon.stop()
            spark.stop()


def receive(messages: Any, topics: Iterable[str], expected: int) -> tuple[Topics, float]:
    """Return the received records by topic, and the time of the last arrival. Wait until ``expected`` records have
    arrived and no more follow, or until no record has arrived for a minute.
    """
    received: Topics = {topic: [] for topic in topics}
    count, last = 0, time.monotonic()
    while time.monotonic() - last < (QUIET_S if count >= expected else PATIENCE_S):
        for batch in messages.poll(timeout_ms=200).values():
            for message in batch:
                received[message.topic].append(record_json(delivery_of(message)))
                count += 1
                last = time.monotonic()
    return received, last


def say(line: str) -> None:
    """Print a line of progress on stderr, separate from the result, which is printed at the end."""
    click.echo(line, err=True)
