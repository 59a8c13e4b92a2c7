"""The test rig for faults. It runs a separate Kafka, a broker, a publisher of records and a client that changes
queries, and compares the deliveries with a ledger.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from bench.ports import free_port
from broker.config.sections import KafkaConfig
from broker.kafka.client import KafkaClient
from broker.kafka.cluster import KafkaCluster
from tools.faults.broker_process import BrokerProcess
from tools.faults.counted_cubes import LATE, LATENESS_S, RESTED, STEP_S
from tools.faults.cube_ledger import CubeAudit
from tools.faults.delivery_ledger import Arrived, DeliveryAudit, DeliveryLedger, Published, duckdb_oracle
from tools.faults.feed import COLUMNS, DDL, Feed, record_of
from tools.faults.moves import SOURCE as MOVES
from tools.faults.moves import STREAM as MOVES_STREAM
from tools.faults.node import Node
from tools.faults.operators import Operators, stream_section
from tools.faults.outputs import OutputAudit
from tools.faults.small_disk import SmallDisk
from tools.faults.standing_cubes import StandingCubes
from tools.faults.subscribers import Subscribers
from tools.faults.topic_reading import read_topic

STREAM = "records"
SOURCE = "records-in"
EVERYTHING = "everything"
DEAD_LETTERS = f"{STREAM}.dead-letter"
TOPICS = ("alpha", "beta", "gamma")

_CHECKPOINT_MB, _KAFKA_MB = 64, 2_000
_STALLED_S = 180.0
_UNDELIVERED_MAX = 5_000
"""The most records that may wait for delivery: five batches, which even a busy machine processes before it counts as
stalled.
"""
_RECORDS_A_MOVE = 3
_LOOK_S = 0.2
_OWN_HEADERS = "asc-"


class Rig:
    """The Kafka node, the broker and the publishers into which faults are injected. They start once, suffer any number
    of faults, and are audited at the end.

    The query ``everything`` accepts each record, so the records in its topic show when the broker delivers again after
    a fault. Raise RuntimeError if a process does not start, or if nothing arrives for three minutes.
    """

    def __init__(self, folder: Path, *, seed: int, per_s: float = 300.0) -> None:
        self.random = random.Random(seed)
        self.checkpoint_disk = SmallDisk(folder / "checkpoint", _CHECKPOINT_MB)
        self.kafka_disk = SmallDisk(folder / "kafka", _KAFKA_MB)
        self.node = Node(self.kafka_disk.folder / "data")
        self._port = free_port()
        self._folder = folder
        self._config = folder / "asc.toml"
        self._per_s = per_s
        self._seed = seed
        self.broker = BrokerProcess(self._config, f"http://127.0.0.1:{self._port}")
        self._calm_until: dict[int, int] | None = None
        self.operators: Operators | None = None
        self._cube_audits: list[CubeAudit] = []
        self._is_settling = False

    def start(self) -> None:
        """Start Kafka and the broker, and begin to publish records and to change queries."""
        self.checkpoint_disk.mount()
        self.kafka_disk.mount()
        self.node.start()
        self._write_config()
        self.cluster = KafkaCluster(self.node.bootstrap_servers, KafkaConfig())
        self.client = self.cluster.client
        self.cluster.create_topics([SOURCE, MOVES, *TOPICS, EVERYTHING], {})
        self.add_partition()
        self.operators = Operators(
            *(self._folder, self.cluster, self._kafka_section, self._per_s / _RECORDS_A_MOVE),
            end=lambda: self._end() // _RECORDS_A_MOVE,
        )
        self.broker.launch()
        self.broker.await_ready()
        self.subscribers = Subscribers(self.broker.client, TOPICS, stream=STREAM, seed=self._seed)
        self.subscribers.put("everything", "n >= 0", EVERYTHING)
        self._cubes = StandingCubes(
            *(self.broker.client, self.cluster, [LATE, RESTED], COLUMNS),
            stream=STREAM,
            source=SOURCE,
            slack_s=LATENESS_S + _UNDELIVERED_MAX * STEP_S,
        )
        self._cubes.register()
        self.feed = Feed(self.client.producer, SOURCE, self._per_s, end=self._end)
        self._arrivals = _Arrivals(self.client)
        self._arrivals.start()
        self.operators.start(self.broker.client)
        self.feed.start()
        self.subscribers.start()
        self.await_delivery()

    def close(self) -> None:
        """Stop all running processes."""
        self.broker.kill()
        if self.operators is not None:
            self.operators.close()
        self.node.stop()
        for disk in (self.checkpoint_disk, self.kafka_disk):
            disk.unmount()

    def add_partition(self) -> None:
        """Add a partition to the source topic."""
        from kafka.admin import NewPartitions

        admin = self.client.admin()
        try:
            count = len(self.cluster.partitions(SOURCE)) + 1
            admin.create_partitions({SOURCE: NewPartitions(total_count=count)})
        finally:
            admin.close()

    def checkpoint(self) -> Path:
        """Return the folder of the stream's checkpoint."""
        return self.checkpoint_disk.folder / "own" / STREAM

    def _end(self) -> int:
        """Return the number of the record at which publishing pauses until earlier records are delivered."""
        # During the final audit, publish without a bound, because operators write their last outputs only when later
        # records advance the watermark.
        return sys.maxsize if self._is_settling else self._arrivals.highest + 1 + _UNDELIVERED_MAX

    def await_delivery(self) -> float:
        """Wait until a record that is published after this call is delivered. Return the duration of the wait in
        seconds.
        """
        start_s, first = time.monotonic(), self.feed.count
        while self._arrivals.highest < first:
            if time.monotonic() - start_s > _STALLED_S:
                raise RuntimeError(f"nothing was delivered for {_STALLED_S:g} s: {self.broker.last_lines()}")
            if self.feed.failure is not None:
                raise RuntimeError(f"records could not be published: {self.feed.failure}")
            time.sleep(_LOOK_S / 4)
        return time.monotonic() - start_s

    def disturb(self) -> None:
        """Record that a fault happens now. The audit permits repeated copies, and copies out of order, from the offsets
        of this moment on.
        """
        if self._calm_until is None:
            log = self.checkpoint() / "spark"
            done = max(int(path.name) for path in (log / "commits").glob("[0-9]*"))
            offsets = json.loads((log / "offsets" / str(done)).read_text("utf-8").splitlines()[-1])[SOURCE]
            self._calm_until = {int(partition): offset for partition, offset in offsets.items()}

    def delivered(self) -> int:
        """Return the number of records that have arrived at the query that accepts every record."""
        return self._arrivals.count

    def rest_cube(self) -> None:
        """Pause one of the cubes until a record is delivered. No fault is injected meanwhile."""
        for _ in range(2):
            self._cubes.toggle(RESTED)
            self.await_delivery()

    def compare_cubes(self) -> CubeAudit:
        """Suspend publishing while each cube is compared with DuckDB over all records."""
        assert self.operators is not None
        with self.feed.held(), self.operators.held():
            found = CubeAudit.of([self._cubes.audit(self.random), self.operators.audit(self.random)])
        self._cube_audits.append(found)
        return found

    def settle(self) -> tuple[DeliveryAudit, OutputAudit, CubeAudit]:
        """Stop publishing records and changing queries. Wait until all required records have arrived, and audit the
        deliveries, the outputs of operators, and the cubes.
        """
        self.subscribers.close()
        self.subscribers.check_standing()
        self.feed.close()
        self._is_settling = True
        self._arrivals.close()
        published = [Published(*record) for record in read_topic(self.cluster, SOURCE)]
        oracle, undecodable = duckdb_oracle(published, COLUMNS)
        ledger = DeliveryLedger(SOURCE, published, self.subscribers.lives, oracle)
        ledger.add_dead_letters(DEAD_LETTERS, undecodable)
        arrived = self._await_all(ledger)
        audit = ledger.audit(arrived, self._calm_until)
        known = {(record.partition, record.offset): record.value for record in published}
        for partition, offset, number in self.feed.acknowledged:
            if known.get((partition, offset)) != record_of(number)[1]:
                audit.missing.append(f"{SOURCE}-{partition}-{offset}: acknowledged by Kafka, and not there")
        assert self.operators is not None
        outputs = self.operators.settle()
        self._cube_audits += [self._cubes.audit(self.random), self.operators.audit(self.random)]
        return audit, outputs, CubeAudit.of(self._cube_audits)

    def _await_all(self, ledger: DeliveryLedger) -> list[Arrived]:
        outstanding, since = -1, time.monotonic()
        while True:
            arrived = [found for topic in (*TOPICS, EVERYTHING, DEAD_LETTERS) for found in self._arrived(topic)]
            now = ledger.outstanding(arrived)
            if now == 0 or time.monotonic() - since > _STALLED_S / 3:
                return arrived
            if now != outstanding:
                outstanding, since = now, time.monotonic()
            time.sleep(1.0)

    def _arrived(self, topic: str) -> Iterator[Arrived]:
        for _, _, key, value, headers in read_topic(self.cluster, topic):
            (source,) = (found.decode() for name, found in headers if name == "asc-source" and found is not None)
            names = tuple(found.decode() for name, found in headers if name == "asc-query" and found is not None)
            own = tuple((name, found) for name, found in headers if not name.startswith(_OWN_HEADERS))
            yield Arrived(topic, source, names, key, value, own)

    def _kafka_section(self, registry_topic: str) -> str:
        servers = f'bootstrap_servers = "{self.node.bootstrap_servers}"'
        return f'[kafka]\n{servers}\nregistry_topic = "{registry_topic}"\n'

    def _write_config(self) -> None:
        self._config.write_text(
            f"""
            {self._kafka_section("asc.queries")}
            [api]
            port = {self._port}
            [spark]
            master = "local[2]"
            driver_memory = "1g"
            checkpoint_dir = "{self.checkpoint_disk.folder}/own"
            max_records_per_batch = 1000
            warm_up_s = 0
            [streams.{STREAM}]
            topic = "{SOURCE}"
            format = "json"
            schema = "{DDL}"
            lateness_s = {LATENESS_S}
            {stream_section(MOVES_STREAM)}
            """,
            "utf-8",
        )


class _Arrivals:
    """Watcher, in a separate thread, of the arriving records of the query that accepts each record."""

    def __init__(self, client: KafkaClient) -> None:
        self._client = client
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="arrivals", daemon=True)
        self.highest = -1
        self.count = 0

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join(timeout=10)

    def _look(self) -> None:
        while not self._over.is_set():
            try:
                self._consume()
            except Exception:
                # Kafka is down, which is one of the injected faults.
                self._over.wait(_LOOK_S)

    def _consume(self) -> None:
        from kafka import TopicPartition

        consumer = self._client.consumer(auto_offset_reset="latest", enable_auto_commit=False)
        try:
            consumer.assign([TopicPartition(EVERYTHING, 0)])
            while not self._over.is_set():
                for records in consumer.poll(timeout_ms=200).values():
                    self.count += len(records)
                    self.highest = max(self.highest, *(json.loads(one.value)["n"] for one in records))
        finally:
            consumer.close()
