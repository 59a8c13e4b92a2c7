"""The daemon: one process with the HTTP API, the Spark driver and a streaming job for each stream."""

from __future__ import annotations

import fcntl
import gc
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from broker.config.config import Config
from broker.errors import BrokerError, RegistryTakenError
from broker.failure import one_line
from broker.kafka.cluster import KafkaCluster
from broker.runtime import collector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka
    from broker.queries.registrar import Registrar
    from broker.stream.stream import Stream

LOG = logging.getLogger("asc.daemon")

STREAMING_OPTIONS = {
    # Idle jobs look for new records fifty times a second, not a hundred times.
    "spark.sql.streaming.pollingDelay": "20ms",
    # Checkpoints are local files. The usual manager starts five processes of the system for each file it writes.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.FileSystemBasedCheckpointFileManager"
    ),
    # Else each piece of code is serialised once more for each batch, to look whether that can be done.
    "spark.sql.execution.usePartitionEvaluator": "true",
}

_UPKEEP_PAUSE_S = 1.0

_SETTLED_QUERIES = 50_000
"""So many more, and half as many again, and the cyclic collector is told to pass over them."""

_FIRST_TRIGGER_S = 10.0


class Daemon:
    """Everything the broker runs, started in order and stopped in the reverse one.

    The API answers from the first moment on; ``/readyz`` says what is still missing. With a ``spark`` session given,
    that one is used and left running. Queries whose id is in ``set_aside`` are not served until they are registered
    anew. Its state is the registry topic and the checkpoint folder, nothing else.
    """

    def __init__(self, config: Config, *, spark: SparkSession | None = None, set_aside: Collection[str] = ()) -> None:
        config.check()
        self.config = config
        self._given_spark = spark
        self._set_aside = frozenset(set_aside)
        self._streams: dict[str, Stream] = {}
        self._registrar: Registrar | None = None
        self._settled = 0
        self._cluster: KafkaCluster | None = None
        self._embedded: EmbeddedKafka | None = None
        self._spark: SparkSession | None = None
        self._phase: str | None = "starting"
        self._started = ExitStack()
        self._stop = threading.Event()
        self._url: str | None = None

    # -- life

    def start(self) -> None:
        """Start everything; returns when the daemon is ready. On an error, what was started is stopped again."""
        try:
            self._start_api()
            self._lock_checkpoint()
            if self.config.kafka.bootstrap_servers is None:
                cluster, spark = self._start_kafka_beside_spark()
            else:
                cluster = self._start_kafka()
                self._make_source_topics(cluster)
                self._enter("starting Spark")
                self._started.callback(self._stop_spark)
                spark = self._start_spark()
            self._start_streams(spark, cluster)
            self._start_upkeep()
            self._await_streams()
            self._spare_collector()
            self._phase = None
        except BaseException:
            self.stop()
            raise

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until a stop is asked for; False when the time is over first."""
        return self._stop.wait(timeout_s)

    def check_processes(self) -> None:
        """BrokerError when a process that the daemon started has died, or another daemon has its registry: only a new
        daemon makes up for the one, and what this one delivers is out of date in the other.
        """
        from broker.runtime.spark import has_stopped

        remedy = "start the daemon again"
        if self._embedded is not None and not self._embedded.running:
            raise BrokerError("embedded Kafka", str(self.config.kafka.data_dir), f"has died: {remedy}")
        if self._spark is not None:
            gateway: Any = self._spark.sparkContext._gateway
            if gateway.proc.poll() is not None:
                raise BrokerError("Spark", "its JVM", f"has died with {gateway.proc.returncode}: {remedy}")
            if has_stopped(self._spark):
                raise BrokerError("Spark", "its context", f"was stopped by an error of its own: {remedy}")
        if self._registrar is not None and isinstance(self._registrar.problem, RegistryTakenError):
            raise self._registrar.problem

    def reload(self, config: Config) -> None:
        """Take the monitor's settings from a configuration that was read again; what else differs is named in the log.

        It holds from the next batch on. Everything but ``[monitor]`` takes a new start.
        """
        changed = [name for name in Config.model_fields if getattr(config, name) != getattr(self.config, name)]
        others = [name for name in changed if name != "monitor"]
        if others:
            LOG.warning("configuration: [%s] changed; that takes a new start of the daemon", "], [".join(others))
        if "monitor" in changed:
            self.config = self.config.model_copy(update={"monitor": config.monitor})
            for stream in self._streams.values():
                stream.monitor.reload(config.monitor)
        LOG.info("configuration read again: [monitor] %s", "changed" if "monitor" in changed else "as it was")

    def ask_to_stop(self) -> None:
        """Make ``wait`` return; safe in a signal handler."""
        self._stop.set()

    def stop(self) -> None:
        """End the running batches, commit, and stop what was started; harmless when called again."""
        self._stop.set()
        self._phase = "stopping"
        for stream in self._streams.values():
            stream.ask_to_stop()
        self._started.close()

    # -- what the API asks

    @property
    def url(self) -> str:
        """The address of the API."""
        if self._url is None:
            raise BrokerError("daemon", "not started", "call start() first")
        return self._url

    def readiness(self) -> str | None:
        """Why the daemon is not ready, in one line; None when it is."""
        if self._phase is not None:
            return self._phase
        for name, stream in self._streams.items():
            if stream.problem is not None:
                return f"stream '{name}' {stream.problem}"
        if self._registrar is not None and self._registrar.problem is not None:
            return f"no query can be registered: {self._registrar.problem}"
        return None

    def registrar(self) -> Registrar:
        """What changes and holds the standing queries; BrokerError while the daemon starts or stops."""
        if self._registrar is None or self._phase is not None:
            raise self._not_ready()
        return self._registrar

    def streams(self) -> Mapping[str, Stream]:
        """The streams by name; BrokerError while the daemon starts or stops."""
        if self._phase is not None:
            raise self._not_ready()
        return self._streams

    def bootstrap_servers(self) -> str:
        """Where Kafka is; BrokerError before it is reached."""
        return self.cluster.bootstrap_servers

    @property
    def cluster(self) -> KafkaCluster:
        """The Kafka in use; BrokerError before it is reached."""
        if self._cluster is None:
            raise self._not_ready()
        return self._cluster

    def _not_ready(self) -> BrokerError:
        remedy = "try again in a moment, or ask 'asc status'"
        return BrokerError("daemon not ready, it is", self._phase or "starting", remedy)

    # -- the steps of the start

    def _enter(self, phase: str) -> None:
        """Say what is being done, for a start can take a while."""
        self._phase = phase
        LOG.info("%s ...", phase)

    def _start_api(self) -> None:
        import uvicorn

        from broker.http.app import create_app

        listener = _listener(self.config.api.host, self.config.api.port)
        self._started.callback(listener.close)
        host, port = listener.getsockname()[:2]
        self._url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        app = create_app(self, self.config.token(), self.config.api.max_body_bytes, self.config.api.host)
        server = uvicorn.Server(
            uvicorn.Config(app, log_config=None, log_level="warning", access_log=False, timeout_graceful_shutdown=3)
        )
        thread = threading.Thread(target=server.run, args=([listener],), name="api", daemon=True)
        thread.start()

        def end() -> None:
            server.should_exit = True
            thread.join(timeout=5)

        self._started.callback(end)

    def _lock_checkpoint(self) -> None:
        folder = self.config.spark.checkpoint_dir
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise BrokerError("spark.checkpoint_dir", str(folder), f"cannot be written: {error.strerror}") from error
        self._started.callback(os.close, lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BrokerError(
                "spark.checkpoint_dir", str(folder), "belongs to another running daemon: stop it, or name another"
            ) from None

    def _start_kafka(self) -> KafkaCluster:
        servers = self.config.kafka.bootstrap_servers
        if servers is None:
            from broker.kafka.embedded import EmbeddedKafka

            self._enter("starting the embedded Kafka")
            embedded = EmbeddedKafka(self.config.kafka.data_dir, progress=LOG.info)
            self._embedded = self._started.enter_context(embedded)
            servers = embedded.bootstrap_servers
            LOG.info("embedded Kafka at %s, data in %s", servers, self.config.kafka.data_dir)
        self._enter("connecting to Kafka")
        self._cluster = KafkaCluster(servers, self.config.kafka)
        self._started.callback(self._cluster.close)
        return self._cluster

    def _start_kafka_beside_spark(self) -> tuple[KafkaCluster, SparkSession]:
        with ThreadPoolExecutor(1, "start-spark") as beside:
            starting = beside.submit(self._start_spark)
            try:
                cluster = self._start_kafka()
                self._make_source_topics(cluster)
                self._enter("starting Spark")
            finally:
                # Before Kafka, and also where that does not start.
                self._started.callback(self._stop_spark)
            return cluster, starting.result()

    def _make_source_topics(self, cluster: KafkaCluster) -> None:
        dead_letters = {self.config.dead_letter_topic(name) for name in self.config.streams}
        cluster.ensure_destinations(dead_letters, "dead-letter topic")
        cluster.ensure_topics({stream.topic for stream in self.config.streams.values()})

    def _start_spark(self) -> SparkSession:
        from broker.runtime.spark import quiet_failures

        spark = self._given_spark or self._own_spark()
        # A job that fails is told by its supervisor.
        quiet_failures(spark)
        return spark

    def _own_spark(self) -> SparkSession:
        from broker.runtime.spark import spark_session

        settings = self.config.spark
        spark = spark_session(
            app_name="asc-broker",
            master=settings.master,
            time_zone=settings.time_zone,
            driver_memory=settings.driver_memory,
            options=STREAMING_OPTIONS,
            progress=LOG.info,
        )
        self._spark = spark
        # Each file of a checkpoint would have another one beside it, made with a process of the system for its mode.
        jvm: Any = spark._jvm
        jvm.org.apache.hadoop.fs.FileSystem.getLocal(spark.sparkContext._jsc.hadoopConfiguration()).setWriteChecksum(
            False
        )
        return spark

    def _stop_spark(self) -> None:
        if self._spark is not None:
            self._spark.stop()

    def _start_streams(self, spark: SparkSession, cluster: KafkaCluster) -> None:
        from broker.queries.registrar import Registrar
        from broker.queries.registry import Registry
        from broker.stream.stream import Stream

        self._enter("reading the registry")
        self._streams = {name: Stream(name, self.config, spark, cluster) for name in self.config.streams}
        registry = Registry(cluster, self.config.kafka.registry_topic)
        self._started.callback(registry.close)
        registry.open()
        registrar = Registrar(self.config, cluster, registry, self._streams, self._set_aside)
        registrar.load()
        LOG.info("registered queries: %d, at version %d", len(registrar.standing), registrar.standing.version)
        self._enter("starting the streaming jobs")
        for stream in self._streams.values():
            self._started.callback(stream.stop)
            stream.warm_up()
        # No stream has records while another one takes its time: a signal in the start ends no batch.
        for stream in self._streams.values():
            stream.start()
        self._registrar = registrar

    def _await_streams(self) -> None:
        # A first batch of many records is not waited for: until it is done, /readyz says that the stream is starting.
        deadline = time.monotonic() + _FIRST_TRIGGER_S
        while any(stream.problem is not None for stream in self._streams.values()) and time.monotonic() < deadline:
            if self._stop.wait(0.1):
                return

    def _spare_collector(self) -> None:
        """Have Python's cyclic collector pass over all that the start made, which lives as long as the daemon: it
        would take half of the time in which a long predicate is judged.
        """
        collector.settle()
        self._settled = 0 if self._registrar is None else len(self._registrar.standing)
        self._started.callback(gc.unfreeze)

    def _start_upkeep(self) -> None:
        def often(what: str, work: Callable[[Registrar], None]) -> None:
            def keep_up() -> None:
                while not self._stop.wait(_UPKEEP_PAUSE_S):
                    try:
                        if self._registrar is not None:
                            work(self._registrar)
                    except Exception as error:
                        LOG.error("what has to be %s could not be: %s", what, one_line(error))

            thread = threading.Thread(target=keep_up, name=f"upkeep: {what}", daemon=True)
            thread.start()
            self._started.callback(thread.join, 5)

        # The second takes long with many queries, and the first has others wait for it.
        often("removed or parked", _remove_and_park)
        often("compiled or stored", self._renew_and_store)

    def _renew_and_store(self, registrar: Registrar) -> None:
        registrar.renew()
        registrar.store()
        if len(registrar.standing) > 1.5 * self._settled + _SETTLED_QUERIES:
            self._settled = len(registrar.standing)
            collector.settle()


def _remove_and_park(registrar: Registrar) -> None:
    registrar.park()
    for query_id in registrar.expire():
        LOG.info("query '%s' has expired", query_id)


def _listener(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise BrokerError("api.host", host, f"is not an address of this machine: {error.strerror}") from error
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        remedy = f"cannot be bound ({error.strerror}): stop what listens there, or set another api.port"
        raise BrokerError("API address", f"{host}:{port}", remedy) from error
    return listener
