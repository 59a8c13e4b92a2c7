"""The daemon: one process with the HTTP API, the Spark driver and a streaming job for each stream."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from broker.cancellation import Cancellation
from broker.config.config import Config
from broker.daemon.checkpoint_lock import CheckpointLock
from broker.daemon.leader_election import LeaderElection
from broker.daemon.standby_warm_up import warm_up_standby
from broker.errors import BrokerError, CancelledError, RegistryTakenError
from broker.failure import one_line
from broker.kafka.cluster import KafkaCluster
from broker.kafka.watch import KafkaWatch
from broker.runtime import collector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.daemon.batch_reporter import BatchReporter
    from broker.http.server import ApiServer
    from broker.kafka.embedded import EmbeddedKafka
    from broker.operators.daemon_part import DaemonPart
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
    # Without this, Spark serialises each closure once more in each batch, to test whether it can be serialised.
    "spark.sql.execution.usePartitionEvaluator": "true",
}

_UPKEEP_PAUSE_S = 1.0
_UPKEEP_ENDS_S = 2.0

_SETTLED_QUERIES = 50_000
"""The garbage collector is frozen again when the number of queries exceeds 1.5 times the number at the last freeze,
plus this number.
"""

_FIRST_TRIGGER_S = 10.0


class Daemon:
    """All components of the broker, started in order and stopped in reverse order.

    The API answers from the start; ``/readyz`` reports which start phase is running. If a ``spark`` session is passed,
    it is used and left running. Queries whose id is in ``set_aside`` are not served until they are registered anew. The
    daemon's state is only in the registry topic and the checkpoint folder.

    Of several daemons on one registry, one serves (:class:`broker.kafka.leadership.Leadership`). With ``is_standby``,
    this daemon starts as far as it can beside another one, and serves when the other is gone. Without ``is_standby``,
    the start fails beside another daemon.
    """

    def __init__(
        self,
        config: Config,
        *,
        spark: SparkSession | None = None,
        set_aside: Collection[str] = (),
        is_standby: bool = False,
    ) -> None:
        config.check()
        if is_standby and config.kafka.bootstrap_servers is None:
            remedy = "two daemons have no Kafka in common: set kafka.bootstrap_servers"
            raise BrokerError("--standby", "embedded Kafka", remedy)
        self.config = config
        self._given_spark = spark
        self._set_aside = frozenset(set_aside)
        self._is_standby = is_standby
        self._election: LeaderElection | None = None
        self._reporter: BatchReporter | None = None
        self._watch: KafkaWatch | None = None
        self._lock = CheckpointLock(config.spark.checkpoint_dir)
        self._streams: dict[str, Stream] = {}
        self._registrar: Registrar | None = None
        self._settled = 0
        self._cluster: KafkaCluster | None = None
        self._parts: Mapping[str, DaemonPart] = {}
        self._embedded: EmbeddedKafka | None = None
        self._spark: SparkSession | None = None
        self._phase: str | None = "starting"
        self._started = ExitStack()
        self._stop = threading.Event()
        self._stopping = Cancellation()
        self._api: ApiServer | None = None
        self._url: str | None = None

    # -- life

    def start(self) -> None:
        """Start all components, and return when the daemon is ready. On an error, stop the started components."""
        from broker.daemon.batch_reporter import BatchReporter

        try:
            self._reporter = BatchReporter(self.config)
            self._started.callback(self._reporter.close)
            self._start_api()
            # Released after all but the API: what Spark still writes must not conflict with another daemon.
            self._started.callback(self._lock.release)
            if not self._is_standby:
                self._lock.take()
            if self.config.kafka.bootstrap_servers is None:
                cluster, spark = self._start_kafka_beside_spark()
            else:
                cluster = self._start_kafka()
                self._make_source_topics(cluster)
                self._enter("starting Spark")
                self._started.callback(self._stop_spark)
                spark = self._start_spark()
            if self._is_standby:
                self._enter("warming up")
                warm_up_standby(self.config, spark, cluster)
            assert self._election is not None
            self._election.wait(self._enter, self._stop.is_set)
            self._start_streams(spark, cluster)
            self._start_upkeep()
            self._await_streams()
            self._spare_collector()
            self._phase = None
        except BaseException:
            self.stop()
            raise

    def check_processes(self) -> None:
        """Raise BrokerError if a process of the daemon has died, or another daemon has taken its registry.

        This daemon cannot continue after such an error. If another daemon has taken the registry, the data of this
        daemon is out of date.
        """
        from broker.runtime.spark import has_stopped

        # Checked first: if another daemon leads, other faults do not matter.
        if self._election is not None:
            self._election.check()
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
        """Apply the monitor settings of a configuration that was read again, from the next batch on.

        Other changes need a restart, and are logged.
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

    def reload_access(self) -> None:
        """Read the tokens file and the certificate again, for later requests: see :meth:`ApiServer.reload`."""
        if self._api is not None:
            self._api.reload()

    def stop(self) -> None:
        """Complete and commit the running batches, and stop all components. Further calls do nothing."""
        self._stop.set()
        self._stopping.cancel("the daemon stops")
        self._phase = "stopping"
        for stream in self._streams.values():
            stream.ask_to_stop()
        self._started.close()

    def abandon(self) -> None:
        """Kill the JVM of the jobs, so that this daemon, which another daemon has replaced, writes nothing more. A
        running batch is left as after a crash.
        """
        if self._spark is not None:
            gateway: Any = self._spark.sparkContext._gateway
            gateway.proc.kill()

    # -- what the API asks

    @property
    def url(self) -> str:
        """Return the address of the API. Raise BrokerError before the API is started."""
        if self._url is None:
            raise BrokerError("daemon", "not started", "call start() first")
        return self._url

    def readiness(self) -> str | None:
        """Return the reason why the daemon is not ready, in one line. Return None if it is ready."""
        if self._phase is not None:
            return self._phase
        if self._watch is not None and self._watch.problem is not None:
            return self._watch.problem
        for name, stream in self._streams.items():
            if stream.problem is not None:
                return f"stream '{name}' {stream.problem}"
        if self._registrar is not None and self._registrar.problem is not None:
            return f"no query can be registered: {self._registrar.problem}"
        try:
            if self._election is not None:
                self._election.check()
        except RegistryTakenError as error:
            return str(error)
        return None

    def registrar(self) -> Registrar:
        """Return the registrar, which holds and changes the standing queries.

        Raise BrokerError while the daemon starts or stops.
        """
        if self._registrar is None or self._phase is not None:
            raise self._not_ready()
        return self._registrar

    def streams(self) -> Mapping[str, Stream]:
        """Return the streams by name. Raise BrokerError while the daemon starts or stops."""
        if self._phase is not None:
            raise self._not_ready()
        return self._streams

    def daemon_part(self, kind: str) -> DaemonPart:
        """Return the part of an operator kind that all streams share. Raise BrokerError while the daemon starts or
        stops.
        """
        if self._phase is not None:
            raise self._not_ready()
        return self._parts[kind]

    def bootstrap_servers(self) -> str:
        """Return the addresses of Kafka. Raise BrokerError before Kafka is connected."""
        return self.cluster.bootstrap_servers

    def security_protocol(self) -> str:
        """Return the security protocol of the connections to Kafka, for example ``SASL_SSL``."""
        return self.config.kafka.security_protocol

    @property
    def cluster(self) -> KafkaCluster:
        """Return the Kafka cluster in use. Raise BrokerError before Kafka is connected."""
        if self._cluster is None:
            raise self._not_ready()
        return self._cluster

    def _not_ready(self) -> BrokerError:
        remedy = "try again in a moment, or ask 'asc status'"
        return BrokerError("daemon not ready, it is", self._phase or "starting", remedy)

    # -- the steps of the start

    def _enter(self, phase: str) -> None:
        """Set and log the phase of the start, because a start can take a while."""
        self._phase = phase
        LOG.info("%s ...", phase)

    def _start_api(self) -> None:
        from broker.http.server import ApiServer

        self._api = ApiServer(self.config, self, self._stopping)
        self._started.callback(self._api.stop)
        self._url = self._api.start()

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
        self._join(self._cluster)
        return self._cluster

    def _join(self, cluster: KafkaCluster) -> None:
        """Join the daemons on the same registry, so that the leader is elected while Spark starts."""
        from broker.queries.registry import Registry

        topic = self.config.kafka.registry_topic
        Registry(cluster, topic).make()
        self._election = LeaderElection(
            *(cluster.client, topic, self._lock),
            is_standby=self._is_standby,
            topic_id=cluster.topic_id(topic),
            streams=self.config.streams.keys(),
        )
        self._started.callback(self._election.leave)
        self._election.join()
        self._watch = KafkaWatch(cluster.client)
        self._started.callback(self._watch.close)
        self._watch.start()

    def _start_kafka_beside_spark(self) -> tuple[KafkaCluster, SparkSession]:
        with ThreadPoolExecutor(1, "start-spark") as beside:
            starting = beside.submit(self._start_spark)
            try:
                cluster = self._start_kafka()
                self._make_source_topics(cluster)
                self._enter("starting Spark")
            finally:
                # Stopped before Kafka, and also if Kafka does not start.
                self._started.callback(self._stop_spark)
            return cluster, starting.result()

    def _make_source_topics(self, cluster: KafkaCluster) -> None:
        dead_letters = {self.config.dead_letter_topic(name) for name in self.config.streams}
        cluster.ensure_destinations(dead_letters, "dead-letter topic")
        cluster.ensure_topics({stream.topic for stream in self.config.streams.values()})

    def _start_spark(self) -> SparkSession:
        from broker.runtime.spark import quiet_failures

        spark = self._given_spark or self._own_spark()
        # Also for a session that the caller gave: no predicate may read variables of this process.
        spark.conf.set("spark.sql.variable.substitute", "false")
        # The supervisor of a job logs its failures.
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
            python_archive=settings.python_archive,
            options={**settings.options, **STREAMING_OPTIONS},
            progress=LOG.info,
            json_log=self.config.log.format == "json",
        )
        self._spark = spark
        # Otherwise, each file of a checkpoint would have a checksum file, and a process would be started to set its
        # mode.
        jvm: Any = spark._jvm
        jvm.org.apache.hadoop.fs.FileSystem.getLocal(spark.sparkContext._jsc.hadoopConfiguration()).setWriteChecksum(
            False
        )
        return spark

    def _stop_spark(self) -> None:
        if self._spark is not None:
            self._spark.stop()

    def _start_streams(self, spark: SparkSession, cluster: KafkaCluster) -> None:
        from broker.operators.kinds import daemon_parts
        from broker.queries.registrar import Registrar
        from broker.queries.registry import Registry
        from broker.stream.stream import Stream

        self._enter("reading the registry")
        assert self._reporter is not None
        report = self._reporter.report
        self._streams = {
            name: Stream(name, self.config, spark, cluster, partial(report, name)) for name in self.config.streams
        }
        registry = Registry(cluster, self.config.kafka.registry_topic)
        self._started.callback(registry.close)
        registry.open()
        registrar = Registrar(self.config, cluster, registry, self._streams, self._set_aside, stopping=self._stopping)
        self._started.callback(registrar.close)
        registrar.load()
        # An empty registry has no version.
        version = f", at version {registrar.standing.version}" if registrar.standing.version >= 0 else ""
        LOG.info("registered queries: %d%s", len(registrar.standing), version)
        self._parts = daemon_parts(cluster)
        for part in self._parts.values():
            self._started.callback(part.close)
            part.load()
        self._enter("starting the streaming jobs")
        # A standby has warmed up while it waited, and records wait now.
        warm_up_s = 0.0 if self._is_standby else self.config.spark.warm_up_s / max(1, len(self._streams))
        for stream in self._streams.values():
            self._started.callback(stream.stop)
            stream.warm_up(warm_up_s)
        # No stream reads records while another one warms up, so a signal during the start interrupts no batch.
        for stream in self._streams.values():
            stream.start()
        self._registrar = registrar

    def _await_streams(self) -> None:
        # Wait only some seconds for a long first batch. Until it is done, /readyz reports that the stream is starting.
        deadline = time.monotonic() + _FIRST_TRIGGER_S
        while any(stream.problem is not None for stream in self._streams.values()) and time.monotonic() < deadline:
            if self._stop.wait(0.1):
                return

    def _spare_collector(self) -> None:
        """Exclude the objects of the start, which live as long as the daemon, from Python's garbage collector.

        If the collector visited these objects, it would take half of the time in which a long predicate is validated.
        """
        collector.settle()
        self._settled = 0 if self._registrar is None else len(self._registrar.standing)
        self._started.callback(gc.unfreeze)

    def _start_upkeep(self) -> None:
        def often(what: str, work: Callable[[Registrar], object]) -> None:
            def keep_up() -> None:
                while not self._stop.wait(_UPKEEP_PAUSE_S):
                    try:
                        if self._registrar is not None:
                            work(self._registrar)
                    except CancelledError:
                        return
                    except Exception as error:
                        LOG.error("what has to be %s could not be: %s", what, one_line(error))

            thread = threading.Thread(target=keep_up, name=f"upkeep: {what}", daemon=True)
            thread.start()
            self._started.callback(thread.join, _UPKEEP_ENDS_S)

        # In separate threads: the second work is slow with many queries, and requests wait for the first.
        often("removed or parked", self._remove_and_park)
        often("compiled or stored", self._renew_and_store)
        # In a separate thread, because it may wait for Kafka.
        often("written without a batch", lambda _: self._write_left())
        for name, part in self._parts.items():
            often(f"read for operator {name}", partial(_keep_up, part))
        if self.config.layers:
            often("read of layers", lambda registrar: registrar.follow_layers())

    def _write_left(self) -> None:
        for stream in self._streams.values():
            try:
                stream.write_left()
            except BrokerError as error:
                LOG.warning("stream '%s': what its last batch has left is written later: %s", stream.name, error)

    def _renew_and_store(self, registrar: Registrar) -> None:
        registrar.renew()
        registrar.store()
        if len(registrar.standing) > 1.5 * self._settled + _SETTLED_QUERIES:
            self._settled = len(registrar.standing)
            collector.settle()

    def _remove_and_park(self, registrar: Registrar) -> None:
        registrar.tidy_states()
        registrar.park()
        expired = registrar.expire()
        for query_id in expired:
            LOG.info("query '%s' has expired", query_id)
        if expired and self._api is not None:
            self._api.audit.write("daemon", [{"verb": "remove", "id": one, "outcome": "expired"} for one in expired])


def _keep_up(part: DaemonPart, _: Registrar) -> None:
    part.keep_up()
