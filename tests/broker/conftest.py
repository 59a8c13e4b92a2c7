"""A running daemon, the two ends of Kafka that a user has, publish and receive, and a batch's tally without Spark."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from pyspark.accumulators import Accumulator

from asc.evaluation.executor import match
from asc.plan.plan import Plan
from bench.ports import free_port
from broker.access.audit import Audit
from broker.access.scope import Scope, unlimited
from broker.config.config import Config, parse_config
from broker.daemon.daemon import Daemon
from broker.matching.tally import Sampling, Tally, Tallying, TallyParam, TaskTally
from broker.plans.binding import BatchBindings, Binding, ids_in
from tests.child_processes import children

if TYPE_CHECKING:
    from kafka import KafkaConsumer, KafkaProducer
    from pyspark.sql import SparkSession

    from broker.http.scoped_service import ScopedService
    from broker.kafka.cluster import KafkaCluster
    from broker.kafka.embedded import EmbeddedKafka
    from broker.operators.daemon_part import DaemonPart
    from broker.queries.registrar import Registrar
    from broker.queries.registry import Registry
    from broker.stream.stream import Stream

Header = tuple[str, bytes | None]


@dataclass
class Received:
    """A record as a consumer of a destination topic sees it."""

    key: bytes | None
    value: bytes | None
    headers: list[Header]

    @property
    def queries(self) -> list[str]:
        return [value.decode() for key, value in self.headers if key == "asc-query" and value is not None]

    @property
    def source(self) -> str:
        (source,) = [value.decode() for key, value in self.headers if key == "asc-source" and value is not None]
        return source

    @property
    def offset(self) -> int:
        return int(self.source.rpartition("-")[2])


@dataclass
class Site:
    """A daemon with names of its own on a Kafka that tests share."""

    config: Config
    bootstrap_servers: str
    start: Callable[[], Daemon]
    daemon: Daemon | None = None
    topics: dict[str, str] = field(default_factory=dict)
    _client: tuple[str, httpx.Client] | None = None

    @property
    def client(self) -> httpx.Client:
        assert self.daemon is not None
        if self._client is None or self._client[0] != self.daemon.url:
            self._client = (self.daemon.url, httpx.Client(base_url=self.daemon.url, timeout=60))
        return self._client[1]

    @cached_property
    def producer(self) -> KafkaProducer:
        """The producer of all records that the site publishes."""
        from kafka import KafkaProducer

        return KafkaProducer(bootstrap_servers=self.bootstrap_servers)

    @cached_property
    def consumer(self) -> KafkaConsumer:
        """The consumer of all topics that the site reads, for one thread."""
        from kafka import KafkaConsumer

        # A question for offsets is answered after the fetch before it.
        return KafkaConsumer(
            bootstrap_servers=self.bootstrap_servers,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_max_wait_ms=10,
        )

    def close(self) -> None:
        """Stop the daemon and close the two ends of Kafka, as far as they are there."""
        if self.daemon is not None:
            self.daemon.stop()
        for name in {"consumer", "producer"} & vars(self).keys():
            getattr(self, name).close()

    def stream(self, kind: str) -> str:
        """The site's own name of its json or csv stream."""
        return next(name for name, stream in self.config.streams.items() if stream.format == kind)

    def topic(self, name: str) -> str:
        """A topic name of this site's own."""
        return self.topics.setdefault(name, f"{name}-{uuid.uuid4().hex[:12]}")

    def create_topic(self, name: str, *, message_bytes_max: int) -> None:
        """Create a topic that takes messages of so many bytes, and wait until Kafka serves its partition."""
        from kafka.admin import KafkaAdminClient

        admin = KafkaAdminClient(bootstrap_servers=self.bootstrap_servers)
        settings = {"max.message.bytes": str(message_bytes_max)}
        admin.create_topics({name: {"num_partitions": 1, "replication_factor": 1, "configs": settings}})
        deadline = time.monotonic() + 60
        while not admin.describe_topics([name])[0]["partitions"]:
            assert time.monotonic() < deadline, name
            time.sleep(0.1)
        admin.close()

    def register(self, query_id: str, where: str, topic: str | None = None, stream: str = "json", **more: Any) -> Any:
        body = {
            "id": query_id,
            "where": where,
            "topic": topic or self.topic(query_id),
            "stream": self.stream(stream),
            **more,
        }
        answer = self.client.post("/v1/queries", json=body)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def bulk(self, lines: list[Any], **params: Any) -> Any:
        """The answer to a bulk load: queries as dictionaries, or lines as they are."""
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        headers = {"content-type": "application/x-ndjson"}
        return self.client.post("/v1/queries", content=text.encode(), headers=headers, params=params)

    def publish(
        self,
        values: Sequence[bytes | None],
        stream: str = "json",
        keys: Sequence[bytes | None] | None = None,
        headers: list[Header] | None = None,
    ) -> list[int]:
        """Send records, in order, to the only partition of a stream's topic; their offsets."""
        producer = self.producer
        sent = [
            producer.send(
                self.config.streams[self.stream(stream)].topic,
                value,
                key=keys[i] if keys else b"k",
                headers=headers or [],
                partition=0,
            )
            for i, value in enumerate(values)
        ]
        producer.flush()
        return [future.get(timeout=30).offset for future in sent]

    def drain(self, stream: str = "json") -> None:
        """Wait until Spark has committed the batch of the last record that was published."""
        from kafka import TopicPartition

        name = self.stream(stream)
        topic = self.config.streams[name].topic
        # It asks Kafka anew, which may have more partitions than before.
        self.consumer.topics()
        partitions = [TopicPartition(topic, number) for number in self.consumer.partitions_for_topic(topic)]
        ends = {each.partition: end for each, end in self.consumer.end_offsets(partitions).items()}
        checkpoint = self.config.spark.checkpoint_dir / name / "spark"
        deadline = time.monotonic() + 180
        while any(committed_offsets(checkpoint).get(partition, 0) < end for partition, end in ends.items()):
            assert time.monotonic() < deadline, self.daemon.readiness() if self.daemon else "no daemon"
            time.sleep(0.02)

    def pass_batch(self, stream: str = "json") -> None:
        """Have a batch without a valid record committed: what a batch says of time holds from the next one on."""
        self.publish([b"not a record"], stream)
        self.drain(stream)

    def stop_before_its_commit(self) -> Binding:
        """Stop the daemon and take the commit of its last batch back, as if it had ended between write and commit."""
        assert self.daemon is not None
        self.daemon.stop()
        folder = self.config.spark.checkpoint_dir / self.stream("json")
        last = BatchBindings(folder / "bindings", folder / "spark").last()
        assert last is not None
        for path in (folder / "spark" / "commits").glob(f"*{last.batch_id}*"):
            path.unlink()
        return last

    def read(self, topic: str) -> list[Received]:
        """Return everything that is in a topic now."""
        from kafka import TopicPartition

        consumer, partition = self.consumer, TopicPartition(topic, 0)
        consumer.assign([partition])
        consumer.seek_to_beginning(partition)
        end = consumer.end_offsets([partition])[partition]
        records: list[Received] = []
        while consumer.position(partition) < end:
            for record in consumer.poll(timeout_ms=500).get(partition, ()):
                records.append(Received(record.key, record.value, list(record.headers)))
        return records


def committed_offsets(checkpoint: Path) -> dict[int, int]:
    """Return the end offset of each partition in the last batch that Spark has committed."""
    last = max(ids_in(checkpoint / "commits"), default=None)
    if last is None:
        return {}
    # A version line, a line of metadata, and one line a source, {"topic": {"partition": offset}}.
    (offsets,) = json.loads((checkpoint / "offsets" / str(last)).read_text("utf-8").splitlines()[2]).values()
    return {int(partition): offset for partition, offset in offsets.items()}


def site_config(
    kafka: EmbeddedKafka, folder: Path, *, formats: Sequence[str] = ("json", "csv"), has_layers: bool = False
) -> Config:
    """Return the configuration of a daemon with a stream of each format."""
    own = uuid.uuid4().hex[:12]
    schemas = {"json": "n INT, s STRING, d DOUBLE, t TIMESTAMP, place STRUCT<city: STRING>", "csv": "n INT, s STRING"}
    layers = {
        "zones": {"topic": f"zones-{own}", "properties": "low INT, high INT, name STRING, radius DOUBLE"},
        "plane": {"topic": f"plane-{own}", "crs": "planar"},
    }
    return parse_config(
        {
            "kafka": {
                "bootstrap_servers": kafka.bootstrap_servers,
                "registry_topic": f"registry-{own}",
                # A topic that is gone is noticed in half a minute, not in two.
                "options": {"max.block.ms": 4000, "request.timeout.ms": 20_000, "delivery.timeout.ms": 25_000},
            },
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0},
            "streams": {
                f"{kind}-{own}": {"topic": f"source-{kind}-{own}", "format": kind, "schema": schemas[kind]}
                for kind in formats
            },
            "layers": layers if has_layers else {},
        }
    )


@pytest.fixture(scope="module")
def site_of(kafka: EmbeddedKafka, spark: SparkSession) -> Iterator[Callable[[Config], Site]]:
    """Starts daemons for the tests of a module, on the shared Spark session and Kafka."""
    sites: list[Site] = []

    def started(config: Config) -> Site:
        def start() -> Daemon:
            daemon = Daemon(config, spark=spark)
            daemon.start()
            return daemon

        site = Site(config, kafka.bootstrap_servers, start)
        sites.append(site)
        site.daemon = start()
        return site

    yield started
    for site in sites:
        site.close()


@dataclass
class Resting:
    """What the API needs of a daemon, all of it real, without the jobs: nothing is delivered, no thread runs."""

    config: Config
    cluster: KafkaCluster
    registry: Registry
    _registrar: Registrar
    _streams: dict[str, Stream]
    _parts: Mapping[str, DaemonPart]

    def readiness(self) -> str | None:
        return None

    def registrar(self) -> Registrar:
        return self._registrar

    def streams(self) -> dict[str, Stream]:
        return self._streams

    def daemon_part(self, kind: str) -> DaemonPart:
        return self._parts[kind]

    def bootstrap_servers(self) -> str:
        return self.cluster.bootstrap_servers

    def security_protocol(self) -> str:
        return self.config.kafka.security_protocol

    @property
    def permitted(self) -> ScopedService:
        """It, for one who may do everything."""
        return self.within(unlimited("test"))

    def within(self, scope: Scope) -> ScopedService:
        """It, within a scope."""
        from broker.http.scoped_service import ScopedService

        return ScopedService(self, scope, "127.0.0.1", Audit())

    def stream(self, kind: str) -> str:
        """The name of the json or csv stream."""
        return next(name for name, stream in self.config.streams.items() if stream.format == kind)


@pytest.fixture(scope="session")
def resting(kafka: EmbeddedKafka, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Resting]:
    """Streams, registry and registrar for the tests of a whole run that need no job; each with ids of its own."""
    from broker.kafka.cluster import KafkaCluster
    from broker.operators.kinds import daemon_parts
    from broker.queries.registrar import Registrar
    from broker.queries.registry import Registry
    from broker.stream.stream import Stream

    config = site_config(kafka, tmp_path_factory.mktemp("resting"), has_layers=True)
    cluster = KafkaCluster(kafka.bootstrap_servers, config.kafka)
    cluster.ensure_topics({stream.topic for stream in config.streams.values()})
    streams = {name: Stream(name, config, spark, cluster) for name in config.streams}
    registry = Registry(cluster, config.kafka.registry_topic)
    registry.open()
    registrar = Registrar(config, cluster, registry, streams)
    registrar.load()
    parts = daemon_parts(cluster)
    for part in parts.values():
        part.load()
    yield Resting(config, cluster, registry, registrar, streams, parts)
    for part in parts.values():
        part.close()
    registrar.close()
    registry.close()
    cluster.close()


class Process:
    """A daemon in a process of its own, as ``asc serve`` runs it."""

    def __init__(self, folder: Path, kafka: EmbeddedKafka | None) -> None:
        self.port = free_port()
        own = uuid.uuid4().hex[:12]
        self.stream, self.topic = f"s-{own}", f"source-{own}"
        self.file = folder / "asc.toml"
        where = f'data_dir = "{folder}/kafka"' if kafka is None else f'bootstrap_servers = "{kafka.bootstrap_servers}"'
        self.file.write_text(
            f"""
            [kafka]
            {where}
            registry_topic = "registry-{own}"
            [api]
            port = {self.port}
            [spark]
            master = "local[2]"
            driver_memory = "1g"
            checkpoint_dir = "{folder}/checkpoint"
            max_records_per_batch = 1000
            warm_up_s = 0
            [streams.{self.stream}]
            topic = "{self.topic}"
            format = "json"
            schema = "n INT"
            """,
            "utf-8",
        )
        self.checkpoint = folder / "checkpoint" / self.stream
        self.log = folder / "daemon.log"
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=120)
        self.child: subprocess.Popen[bytes] | None = None
        self.prelude = ""
        """Python that its process runs first."""
        self.options: tuple[str, ...] = ()
        """Of ``asc serve``, beside the file."""

    def twin(self, folder: Path, *, checkpoint: Path | None = None) -> Process:
        """A daemon with the same registry, stream and, unless another one is given, checkpoint."""
        folder.mkdir()
        twin = Process(folder, None)
        text = self.file.read_text("utf-8").replace(f"port = {self.port}", f"port = {twin.port}")
        if checkpoint is not None:
            text = text.replace(f'"{self.checkpoint.parent}"', f'"{checkpoint}"')
        twin.file.write_text(text, "utf-8")
        twin.stream, twin.topic = self.stream, self.topic
        twin.checkpoint = (checkpoint or self.checkpoint.parent) / self.stream
        return twin

    def launch(self) -> subprocess.Popen[bytes]:
        program = f"{self.prelude}\nfrom cli.main import main; main()"
        command = [sys.executable, "-c", program, "serve", "--config", str(self.file), *self.options]
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(command, stderr=log, stdout=log)
        return self.child

    def start(self) -> None:
        self.child = self.launch()
        deadline = time.monotonic() + 180
        while not self.ready():
            assert self.child.poll() is None, self.log.read_text("utf-8")
            assert time.monotonic() < deadline, self.log.read_text("utf-8")
            time.sleep(0.2)

    def await_phase(self, phase: str) -> None:
        """Wait until /readyz names a phase of the start, or one that comes after it."""
        phases = ("connecting to Kafka", "starting Spark", "reading the registry", "starting the streaming jobs")
        wanted = phases[phases.index(phase) :]
        deadline = time.monotonic() + 180
        while self.reason() not in wanted:
            assert time.monotonic() < deadline, self.log.read_text("utf-8")
            time.sleep(0.02)

    def reason(self) -> Any:
        try:
            return self.client.get("/readyz").json()["reason"]
        except httpx.TransportError:
            return None

    def ready(self) -> bool:
        try:
            return self.client.get("/readyz").status_code == 200
        except httpx.TransportError:
            return False


class OwnNode:
    """A Kafka node for the tests of one module, which may stop its process: the shared one has others' clients."""

    def __init__(self, kafka: EmbeddedKafka) -> None:
        self.kafka = kafka
        self.bootstrap_servers = kafka.bootstrap_servers
        assert kafka._supervisor is not None
        (self._pid,) = children(kafka._supervisor.pid, "kafka.Kafka")

    def stop(self) -> None:
        """Answer nothing, and keep all connections."""
        os.kill(self._pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self._pid, signal.SIGCONT)


@pytest.fixture(scope="module")
def own_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnNode]:
    """A Kafka node that nobody else uses."""
    from broker.kafka.embedded import EmbeddedKafka

    with EmbeddedKafka(tmp_path_factory.mktemp("own-node")) as kafka:
        node = OwnNode(kafka)
        yield node
        node.resume()


ProcessOf = Callable[[Path, "EmbeddedKafka | None"], Process]


@contextmanager
def processes() -> Iterator[ProcessOf]:
    made: list[Process] = []

    def make(folder: Path, kafka: EmbeddedKafka | None) -> Process:
        made.append(Process(folder, kafka))
        return made[-1]

    yield make
    for process in made:
        if process.child is not None and process.child.poll() is None:
            process.child.kill()
            process.child.wait()


@pytest.fixture
def process_of() -> Iterator[ProcessOf]:
    """Makes daemons in a folder, on a Kafka or one of their own; they are gone when the test is."""
    with processes() as make:
        yield make


@pytest.fixture(scope="module")
def module_process_of() -> Iterator[ProcessOf]:
    """The same for daemons that the tests of a module share."""
    with processes() as make:
        yield make


@pytest.fixture
def process(
    tmp_path: Path, kafka: EmbeddedKafka, process_of: Callable[[Path, EmbeddedKafka | None], Process]
) -> Process:
    return process_of(tmp_path, kafka)


@pytest.fixture
def reader_of(tmp_path: Path) -> Iterator[Callable[[EmbeddedKafka], Site]]:
    """Makes what reads the topics of a Kafka for tests that run their own daemons: a site without one."""
    sites: list[Site] = []

    def none() -> Daemon:
        raise AssertionError("a reader has no daemon")

    def reader(kafka: EmbeddedKafka) -> Site:
        sites.append(Site(site_config(kafka, tmp_path), kafka.bootstrap_servers, none))
        return sites[-1]

    yield reader
    for site in sites:
        site.close()


@pytest.fixture
def reader(kafka: EmbeddedKafka, reader_of: Callable[[EmbeddedKafka], Site]) -> Site:
    """The same for the Kafka that tests share."""
    return reader_of(kafka)


@pytest.fixture(scope="module")
def site(
    request: pytest.FixtureRequest,
    kafka: EmbeddedKafka,
    site_of: Callable[[Config], Site],
    tmp_path_factory: pytest.TempPathFactory,
) -> Site:
    """The daemon that the tests of a module share, with a JSON stream, or those of the module's ``FORMATS``."""
    formats = getattr(request.module, "FORMATS", ("json",))
    return site_of(site_config(kafka, tmp_path_factory.mktemp("site"), formats=formats))


@pytest.fixture(scope="module")
def layered_site(
    site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory
) -> Site:
    """A daemon with layers, for the tests of a module."""
    config = site_config(kafka, tmp_path_factory.mktemp("layered"), formats=("json",), has_layers=True)
    return site_of(config)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Path, Path]]:
    """Makes certificates of 127.0.0.1 and localhost that vouch for themselves, each with its key: two PEM files."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not on this machine")
    folder = tmp_path_factory.mktemp("certificates")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")

    def made(name: str, days: int = 2) -> tuple[Path, Path]:
        key, request, certificate = f"{name}.key", f"{name}.csr", f"{name}.pem"
        ending = ["-days", str(days), "-extfile", "names"]
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        for arguments in (
            ["req", *curve, "-keyout", key, "-out", request, "-subj", f"/CN={name}"],
            ["x509", "-req", "-in", request, "-signkey", key, *ending, "-out", certificate],
        ):
            subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
        return folder / certificate, folder / key

    return made


@pytest.fixture(scope="session")
def tallied() -> Callable[..., Tally]:
    """What the tasks of one batch hand over: two of them, as on two cores."""

    def of(plan: Plan, columns: list[Any], rows: int, sampling: Sampling | None, number: int = 1) -> Tally:
        arrived: Accumulator[Tally | None] = Accumulator(-1, None, TallyParam(sampling.tuples if sampling else 0))
        for half in (slice(0, rows // 2), slice(rows // 2, rows)):
            task = TaskTally(Tallying(arrived, number, sampling))
            for start in range(half.start, half.stop, 500):
                part = [column.slice(start, min(500, half.stop - start)) for column in columns]
                task.add(plan.p_attributes, part, match(plan, part, len(part[0])))
            task.hand_over()
        assert arrived.value is not None
        return arrived.value

    return of
