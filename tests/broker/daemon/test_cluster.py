"""The daemon on a standalone cluster: a real master, two real workers, and nothing installed in their Python."""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from bench.standalone import StandaloneCluster
from broker.http.guards import NDJSON
from tests.broker.clustered import bare_cluster, put_on

if TYPE_CHECKING:
    from conftest import Process, ProcessOf

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

PARTITIONS = 4
STANDING = 40_000
"""Queries that make a plan of several blocks."""

OF_PLAN = re.compile(r"broadcast_(\d+)_python")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    """Its hosts have a Python of this one's version on their path, without a single package."""
    with bare_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


class Served:
    """The daemon on the cluster, its stream, and what executors have of it."""

    def __init__(self, process: Process, cluster: StandaloneCluster, kafka: EmbeddedKafka, ui: str) -> None:
        self.process = process
        self.cluster = cluster
        self._servers = kafka.bootstrap_servers
        self._ui = ui
        self._producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
        self.published = 0

    def register(self, query_id: str, where: str, topic: str) -> None:
        body = {"where": where, "topic": topic}
        answer = self.process.client.put(f"/v1/queries/{query_id}", json=body)
        assert answer.is_success, answer.text

    def publish(self, count: int) -> range:
        """Records of the next numbers, over all partitions."""
        numbers = range(self.published, self.published + count)
        for n in numbers:
            self._producer.send(self.process.topic, json.dumps({"n": n}).encode(), partition=n % PARTITIONS)
        self._producer.flush()
        self.published += count
        return numbers

    def read(self, topic: str) -> list[tuple[int, str]]:
        """The number and the source of each record that is in a topic now."""
        consumer = KafkaConsumer(bootstrap_servers=self._servers, auto_offset_reset="earliest")
        try:
            partitions = [TopicPartition(topic, p) for p in consumer.partitions_for_topic(topic) or ()]
            consumer.assign(partitions)
            ends = consumer.end_offsets(partitions)
            found = []
            while any(consumer.position(partition) < end for partition, end in ends.items()):
                for records in consumer.poll(timeout_ms=500).values():
                    for record in records:
                        found.append((json.loads(record.value)["n"], dict(record.headers)["asc-source"].decode()))
            return found
        finally:
            consumer.close()

    def await_all(self, topic: str, numbers: set[int]) -> list[tuple[int, str]]:
        """What a topic holds, once all of these have arrived."""
        deadline = time.monotonic() + 120
        while True:
            found = self.read(topic)
            if numbers <= {n for n, _ in found}:
                return found
            assert time.monotonic() < deadline, self.process.log.read_text("utf-8")[-5_000:]
            time.sleep(0.2)

    def tasks(self) -> dict[str, int]:
        """The tasks that each living executor has done, as Spark says."""
        root = f"{self._ui}/api/v1/applications"
        application = httpx.get(root, timeout=60).json()[0]["id"]
        executors = httpx.get(f"{root}/{application}/executors", timeout=60).json()
        return {each["id"]: each["completedTasks"] for each in executors if each["id"] != "driver"}

    def parts(self, worker: int) -> dict[str, int]:
        """The files of the plan's parts that the executors of a worker have, in bytes."""
        folder = self.cluster.local_folder(worker)
        return {path.name: path.stat().st_size for path in folder.rglob("broadcast_*_python")}


@pytest.fixture(scope="module")
def served(
    module_process_of: ProcessOf,
    cluster: StandaloneCluster,
    kafka: EmbeddedKafka,
    tmp_path_factory: pytest.TempPathFactory,
) -> Served:
    process = module_process_of(tmp_path_factory.mktemp("served"), kafka)
    ui = put_on(process, cluster, partitions=PARTITIONS)
    process.start()
    return Served(process, cluster, kafka, ui)


def python_workers(cluster: StandaloneCluster) -> Iterator[tuple[int, int]]:
    """The Python workers that run on the cluster: each one's worker of Spark, and its process."""
    for each in Path("/proc").iterdir():
        try:
            folder = (each / "cwd").readlink()
            line = (each / "cmdline").read_bytes()
        except OSError:
            continue
        for worker in cluster.workers:
            if cluster.work_folder(worker) in folder.parents and b"broker.runtime.python_worker" in line:
                yield worker, int(each.name)


def mapped(pid: int) -> set[Path]:
    """The files of plans that a process has mapped into its memory."""
    places = (line.split(maxsplit=5)[5:] for line in Path(f"/proc/{pid}/maps").read_text("utf-8").splitlines())
    return {Path(place[0]) for place in places if place and OF_PLAN.fullmatch(Path(place[0]).name)}


def eventually(holds: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_the_oracles_records_arrive_and_both_workers_matched_them(served: Served) -> None:
    own = f"out-{os.urandom(6).hex()}"
    oracle: dict[str, tuple[str, Callable[[int], bool]]] = {
        "between": ("n BETWEEN 100 AND 1500", lambda n: 100 <= n <= 1500),
        "either": ("n < 50 OR n IN (77, 1999)", lambda n: n < 50 or n in (77, 1999)),
        "computed": ("n % 7 = 3", lambda n: n % 7 == 3),
    }
    for query_id, (where, _) in oracle.items():
        served.register(query_id, where, f"{own}-{query_id}")
    before = served.tasks()
    numbers = served.publish(2_000)
    for query_id, (_, accepts) in oracle.items():
        wanted = [n for n in numbers if accepts(n)]
        found = served.await_all(f"{own}-{query_id}", set(wanted))
        assert sorted(n for n, _ in found) == wanted
    eventually(lambda: all(count > before[executor] for executor, count in served.tasks().items()))
    assert len(before) == 2


def test_a_query_more_ships_a_block_and_the_executors_of_a_host_map_one_copy(served: Served) -> None:
    own = f"many-{os.urandom(6).hex()}"
    lines = [
        json.dumps({"id": f"many-{k}", "where": f"n BETWEEN {10_000_000 + k} AND {10_000_009 + k}", "topic": own})
        for k in range(STANDING)
    ]
    answer = served.process.client.post("/v1/queries", content="\n".join(lines), headers={"Content-Type": NDJSON})
    assert answer.is_success, answer.text
    served.register("all", "n >= 0", f"{own}-all")
    served.await_all(f"{own}-all", set(served.publish(200)))
    before = {worker: served.parts(worker) for worker in served.cluster.workers}
    served.register("one-more", "n BETWEEN 10000007 AND 10000017", own)
    served.await_all(f"{own}-all", set(served.publish(200)))
    for worker, parts in before.items():
        eventually(lambda worker=worker, parts=parts: served.parts(worker).keys() - parts.keys())
        shipped = sum(size for name, size in served.parts(worker).items() if name not in parts)
        assert 0 < shipped < sum(parts.values()) / 2
    # Each executor has all files; the processes of both map those of one.
    last = max(int(name.split("_")[1]) for name in served.parts(0))
    mapping = {(worker, path) for worker, pid in python_workers(served.cluster) for path in mapped(pid)}
    assert {worker for worker, path in mapping if f"_{last}_" in path.name} == set(served.cluster.workers)
    places = Counter(path.name for path in {path for _, path in mapping})
    assert set(places.values()) == {1}


def test_nothing_is_lost_where_a_worker_is_killed(served: Served) -> None:
    own = f"killed-{os.urandom(6).hex()}"
    served.register("all", "n >= 0", own)
    first = served.publish(8_000)
    eventually(lambda: len(served.read(own)) > 500)
    served.cluster.kill_worker(0)
    more = served.publish(2_000)
    found = served.await_all(own, {*first, *more})
    sources: dict[int, set[str]] = {}
    for n, source in found:
        sources.setdefault(n, set()).add(source)
    assert sources.keys() == {*first, *more}
    assert {len(each) for each in sources.values()} == {1}
    served.cluster.start_worker(0)
    eventually(lambda: len(served.tasks()) > 1)
    eventually(lambda: served.publish(100) and all(served.tasks().values()))
