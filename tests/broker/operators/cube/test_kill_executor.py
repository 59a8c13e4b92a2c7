"""Executors of a cluster that are killed with a batch in them: a cube has every record once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from bench.standalone import StandaloneCluster
from tests.broker.clustered import bare_cluster, put_on
from tests.broker.operators.cube.test_kill_daemon import BATCH, Cube

if TYPE_CHECKING:
    from conftest import Process

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]

PARTITIONS = 4
KILLS = 3

_LOOK_S = 0.1
_EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StandaloneCluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    with bare_cluster(folder) as cluster:
        yield cluster


class Executors:
    """The executors of a daemon's application, by their ids."""

    def __init__(self, ui: str, cluster: StandaloneCluster) -> None:
        self._ui = f"{ui}/api/v1/applications"
        self._cluster = cluster

    def processes(self) -> dict[str, int]:
        """The JVMs of executors that run on the cluster."""
        found = {}
        for each in Path("/proc").iterdir():
            try:
                folder, line = (each / "cwd").readlink(), (each / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            is_own = any(self._cluster.work_folder(worker) in folder.parents for worker in self._cluster.workers)
            if is_own and _EXECUTOR in line:
                found[line[line.index(b"--executor-id") + 1].decode()] = int(each.name)
        return found

    def executors(self) -> dict[str, dict[str, Any]]:
        """What Spark says of each that it has."""
        application = httpx.get(self._ui, timeout=60).json()[0]["id"]
        found = httpx.get(f"{self._ui}/{application}/executors", timeout=60).json()
        return {each["id"]: each for each in found if each["id"] != "driver" and each["isActive"]}

    def await_all(self) -> dict[str, int]:
        """The processes, once each worker has one that is registered."""
        deadline = time.monotonic() + 120
        while True:
            found = self.processes()
            if len(found) == len(self._cluster.workers) and found.keys() == self.executors().keys():
                return found
            assert time.monotonic() < deadline, (found, self.executors())
            time.sleep(_LOOK_S)

    def await_task(self, executor: str) -> None:
        """Wait until an executor has a task."""
        deadline = time.monotonic() + 60
        while not self.executors()[executor]["activeTasks"]:
            assert time.monotonic() < deadline, self.executors()
            time.sleep(_LOOK_S)


def test_executors_that_are_killed_in_a_batch_count_each_record_once(
    process: Process, cluster: StandaloneCluster, kafka: EmbeddedKafka
) -> None:
    executors = Executors(put_on(process, cluster, partitions=PARTITIONS), cluster)
    cube = Cube(process, kafka)
    process.start()
    cube.register()
    cube.publish(BATCH, partitions=PARTITIONS)
    cube.await_count(BATCH)
    killed = set()
    for turn in range(KILLS):
        running = executors.await_all()
        executor = sorted(running)[turn % len(running)]
        killed.add(executor)
        # It stands still: a task that it is given is not done when it is killed.
        os.kill(running[executor], signal.SIGSTOP)
        cube.publish(3 * BATCH, partitions=PARTITIONS)
        executors.await_task(executor)
        before = cube.ask()["rows"][0]["c"]
        os.kill(running[executor], signal.SIGKILL)
        assert before < len(cube.published)
        cube.await_count(len(cube.published))
    cube.check()
    assert len(killed) == KILLS
    assert killed.isdisjoint(executors.processes())
