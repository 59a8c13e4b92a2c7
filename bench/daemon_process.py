"""The start and the control of a daemon that runs as a separate process (``asc serve``), with the queries of many
simulated subscribers.
"""

from __future__ import annotations

import copy
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asc.schema import Schema
from bench.ports import free_port
from bench.traffic import make_topics
from broker.client.client import Client
from broker.client.errors import NoAnswerError
from broker.config.sections import KafkaConfig
from broker.kafka.cluster import KafkaCluster
from broker.kafka.embedded import EmbeddedKafka
from broker.queries.query import RegisteredQuery
from broker.queries.registry import Registry
from workloads.subscribers import SUBSCRIBERS_DDL, TOPICS, subscribers

STREAM = "records"
_READY_S = 300.0
_REQUEST_S = 600.0
_STOPPED_S = 30.0
_BODY_BYTES = 1 << 29
"""The limit of a request's body in bytes, which is enough for a million queries in one request."""

_PAUSE_S = 0.25
"""The seconds between two requests for a daemon's progress. Each request takes a little of the daemon's time."""

_DONE_S = 900.0
_BATCH = 200_000
_CHANGED = 50


class DaemonProcess:
    """The configuration of a daemon on the given Kafka; the daemon can be started several times.

    ``source`` and ``destinations`` are topics with ``partitions`` partitions, by default one. ``options``: properties
    of Spark. ``master``: Spark's master, by default that of the configuration, which has a task for each core.
    ``quick``: skip the warm-up, because nothing is measured. ``ddl``: the schema of the records.
    """

    def __init__(
        self,
        folder: Path,
        kafka: EmbeddedKafka,
        name: str,
        *,
        batch: int = _BATCH,
        partitions: int = 1,
        options: Mapping[str, str] | None = None,
        master: str | None = None,
        quick: bool = False,
        ddl: str = SUBSCRIBERS_DDL,
    ) -> None:
        self.source = f"{name}-in"
        self.destinations = [f"{name}-out-{number}" for number in range(TOPICS)]
        self.bootstrap_servers = kafka.bootstrap_servers
        self._registry = f"{name}-registry"
        self._folder = folder / name
        self._folder.mkdir()
        self.checkpoint_dir = self._folder / "checkpoint"
        self.pid: int | None = None
        """The process id of the daemon while it runs."""
        self._port = free_port()
        self._client = _client(self._port)
        self._config = self._folder / "asc.toml"
        self._config.write_text(
            f"""
            [kafka]
            bootstrap_servers = "{kafka.bootstrap_servers}"
            registry_topic = "{self._registry}"
            [api]
            port = {self._port}
            max_body_bytes = {_BODY_BYTES}
            [spark]
            checkpoint_dir = "{self.checkpoint_dir}"
            max_records_per_batch = {batch}
            {"" if master is None else f'master = "{master}"'}
            {"warm_up_s = 0" if quick else ""}
            [streams.{STREAM}]
            topic = "{self.source}"
            format = "json"
            schema = "{Schema.from_ddl(ddl).ddl()}"
            starting_offsets = "earliest"
            [spark.options]
            """
            + "\n".join(f'"{key}" = "{value}"' for key, value in (options or {}).items()),
            "utf-8",
        )
        make_topics(kafka.bootstrap_servers, self.source, *self.destinations, partitions=partitions)

    def twin(self) -> DaemonProcess:
        """Return another daemon with the same registry, topics and checkpoint folder, but a different address."""
        other, port = copy.copy(self), free_port()
        other.pid, other._config = None, self._folder / f"{port}.toml"
        other._config.write_text(
            self._config.read_text("utf-8").replace(f"port = {self._port}", f"port = {port}"), "utf-8"
        )
        other._port, other._client = port, _client(port)
        return other

    @contextmanager
    def running(self, *options: str) -> Iterator[float]:
        """Run the daemon, and yield the seconds until it was ready.

        ``options``: the options of ``asc serve`` in addition to the configuration file. Raise RuntimeError, with the
        daemon's last lines, if the daemon does not become ready.
        """
        start = time.monotonic()
        with self.launched(*options):
            self.await_reason(None)
            yield time.monotonic() - start

    @contextmanager
    def launched(self, *options: str) -> Iterator[None]:
        """Start the daemon as a process. At the end of the block, stop the daemon unless it was killed."""
        line = [sys.executable, "-c", "from cli.main import main; main()", "serve", "--config", str(self._config)]
        with self._log.open("ab") as out:
            self._process = subprocess.Popen([*line, *options], stdout=out, stderr=out)
        self.pid = self._process.pid
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(timeout=_STOPPED_S)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """Kill the process at once by SIGKILL."""
        self._process.kill()
        self._process.wait()

    def await_reason(self, reason: str | None) -> None:
        """Wait until the daemon reports ``reason`` as the reason why it is not ready. For None, wait until the daemon
        is ready.

        Raise RuntimeError, with the daemon's last lines, if the wait takes five minutes or if the daemon ends.
        """
        give_up = time.monotonic() + _READY_S
        while self._reason() != reason:
            if self._process.poll() is not None or time.monotonic() > give_up:
                said = self._log.read_text("utf-8")[-2_000:]
                raise RuntimeError(f"the daemon is not {'ready' if reason is None else reason}: {said}")
            time.sleep(0.05)

    @property
    def address(self) -> str:
        """The address of the daemon's HTTP API."""
        return self._client.url

    def write_subscribers(self, count: int) -> None:
        """Write ``count`` queries of subscribers into the registry. Call this only while no daemon that uses the
        registry runs.
        """
        self.write_queries(
            RegisteredQuery(query_id, STREAM, where, self.destinations[int(topic)])
            for query_id, where, topic in subscribers(count)
        )

    def write_queries(self, queries: Iterable[RegisteredQuery]) -> None:
        """Write queries into the registry. Call this only while no daemon that uses the registry runs."""
        cluster = KafkaCluster(self.bootstrap_servers, KafkaConfig())
        registry = Registry(cluster, self._registry)
        registry.open()
        registry.write(queries)
        registry.close()
        cluster.close()

    def register(self, count: int) -> None:
        """Register ``count`` queries. Raise RefusedError if they are refused."""
        lines = [
            json.dumps({"id": query_id, "where": where, "topic": self.destinations[int(topic)]})
            for query_id, where, topic in subscribers(count)
        ]
        self.load(lines)

    def load(self, lines: Sequence[str]) -> None:
        """Register queries, given as one line of JSON per query. Raise RefusedError if they are refused."""
        self._client.apply_ndjson("\n".join(lines).encode())

    def put(self, query_id: str, where: str, number: int) -> None:
        """Register or replace a query that delivers to the destination topic with the given number."""
        topic = self.destinations[number % len(self.destinations)]
        self._client.register({"id": query_id, "where": where, "topic": topic})

    def put_cube(self, query_id: str, where: str, **operator: Any) -> None:
        """Register or replace a cube."""
        self._client.register({"id": query_id, "where": where, "operator": {"name": "cube", **operator}})

    def ask(self, query_id: str, **question: Any) -> dict[str, Any]:
        """Query a cube, including its open panes, and return the answer."""
        return {**self._client.cubes.query(query_id, {"live": True, **question})}

    def backfill_left(self, query_id: str) -> int:
        """Return the number of offsets that the backfill of a cube still has to read."""
        return self._client.cubes.backfill_progress(query_id)["left"]

    def remove(self, query_id: str) -> None:
        """Remove a query."""
        self._client.remove(query_id)

    def change(self, number: int) -> None:
        """Register or replace query ``number`` modulo fifty. These queries accept almost no record, so their changes
        add no deliveries.
        """
        where = f"zone < 40 AND a BETWEEN {number} AND {number + 1} AND dest <> ''"
        self.put(f"changed-{number % _CHANGED}", where, number)

    def status(self) -> dict[str, Any]:
        """Return the status of the stream that the daemon's API reports, as parsed JSON."""
        return {**self._client.plans()[STREAM]}

    def reached(self, records: int) -> tuple[float, int]:
        """Wait until the daemon has processed at least ``records`` records since its start. Return the time of the last
        check, and the number of records processed by then.

        Raise RuntimeError if the daemon does not reach the number.
        """
        give_up = time.monotonic() + _DONE_S
        while (done := self.status()["monitor"]["tuples"]) < records:
            if time.monotonic() > give_up:
                raise RuntimeError(f"{records:,} records were not done in {_DONE_S:.0f} s, but {done:,}")
            time.sleep(_PAUSE_S)
        return time.monotonic(), done

    @property
    def _log(self) -> Path:
        return self._folder / "daemon.log"

    def _reason(self) -> str | None:
        """Return the reason why the daemon is not ready. Return None if it is ready."""
        try:
            answer = self._client.ready()
        except NoAnswerError:
            return "not there"
        return None if answer["ready"] else str(answer["reason"])


def _client(port: int) -> Client:
    return Client(f"http://127.0.0.1:{port}", timeout_s=_REQUEST_S)
