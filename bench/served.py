"""A daemon as ``asc serve`` runs it, in a process of its own, with the queries of many subscribers."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from asc.schema import Schema
from bench.traffic import make_topics
from broker.http.guards import NDJSON
from broker.kafka.embedded import EmbeddedKafka
from workloads.subscribers import SUBSCRIBERS_DDL, TOPICS, subscribers

STREAM = "records"
_READY_S = 300.0
_REQUEST_S = 600.0
_STOPPED_S = 30.0
_BODY_BYTES = 1 << 29
"""A million queries in one request."""

_BATCH = 200_000
_CHANGED = 50


class Served:
    """The daemon's configuration on a Kafka of its own; started as often as is asked for.

    ``source`` and ``destinations`` are topics of one partition.
    """

    def __init__(self, folder: Path, kafka: EmbeddedKafka, name: str, *, batch: int = _BATCH) -> None:
        self.source = f"{name}-in"
        self.destinations = [f"{name}-out-{number}" for number in range(TOPICS)]
        self.bootstrap_servers = kafka.bootstrap_servers
        self._folder = folder / name
        self._folder.mkdir()
        self.checkpoint_dir = self._folder / "checkpoint"
        self.pid: int | None = None
        """The daemon's process while it runs."""
        self._port = _free_port()
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{self._port}", timeout=_REQUEST_S, trust_env=False)
        self._config = self._folder / "asc.toml"
        self._config.write_text(
            f"""
            [kafka]
            bootstrap_servers = "{kafka.bootstrap_servers}"
            registry_topic = "{name}-registry"
            [api]
            port = {self._port}
            max_body_bytes = {_BODY_BYTES}
            [spark]
            checkpoint_dir = "{self.checkpoint_dir}"
            max_records_per_batch = {batch}
            [streams.{STREAM}]
            topic = "{self.source}"
            format = "json"
            schema = "{Schema.from_ddl(SUBSCRIBERS_DDL).ddl()}"
            """,
            "utf-8",
        )
        make_topics(kafka.bootstrap_servers, self.source, *self.destinations)

    @contextmanager
    def running(self) -> Iterator[float]:
        """The daemon, ready; the seconds that took. RuntimeError, with its last lines, where it does not get ready."""
        log = self._folder / "daemon.log"
        line = [sys.executable, "-c", "from cli.main import main; main()", "serve", "--config", str(self._config)]
        with log.open("ab") as out:
            start = time.monotonic()
            process = subprocess.Popen(line, stdout=out, stderr=out)
        self.pid = process.pid
        try:
            while not self._is_ready():
                if process.poll() is not None or time.monotonic() - start > _READY_S:
                    raise RuntimeError(f"the daemon is not ready: {log.read_text('utf-8')[-2_000:]}")
                time.sleep(0.05)
            yield time.monotonic() - start
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=_STOPPED_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def register(self, count: int) -> None:
        """Register so many queries. RuntimeError where they are refused."""
        lines = [
            json.dumps({"id": query_id, "where": where, "topic": self.destinations[int(topic)]})
            for query_id, where, topic in subscribers(count)
        ]
        self.load(lines)

    def load(self, lines: Sequence[str]) -> None:
        """Register the queries of some lines. RuntimeError where they are refused."""
        answer = self._client.post("/v1/queries", content="\n".join(lines), headers={"Content-Type": NDJSON})
        if not answer.is_success:
            raise RuntimeError(f"queries were refused with {answer.status_code}: {answer.text[:500]}")

    def put(self, query_id: str, where: str, number: int) -> None:
        """Register or replace a query, which sends to the topic of that number."""
        body = {"where": where, "topic": self.destinations[number % len(self.destinations)]}
        self._client.put(f"/v1/queries/{query_id}", json=body).raise_for_status()

    def remove(self, query_id: str) -> None:
        """Remove a query."""
        self._client.delete(f"/v1/queries/{query_id}").raise_for_status()

    def change(self, number: int) -> None:
        """Register or replace one of fifty queries, which accept next to nothing."""
        where = f"zone < 40 AND a BETWEEN {number} AND {number + 1} AND dest <> ''"
        self.put(f"changed-{number % _CHANGED}", where, number)

    def status(self) -> dict[str, Any]:
        """What the daemon says of its stream."""
        found: dict[str, Any] = self._client.get("/v1/plan").raise_for_status().json()["streams"][STREAM]
        return found

    def _is_ready(self) -> bool:
        try:
            return self._client.get("/readyz").is_success
        except httpx.TransportError:
            return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
