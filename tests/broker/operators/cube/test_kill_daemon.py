"""A daemon that is killed at each step of a batch: its cube has every record once."""

from __future__ import annotations

import json
import os
import shutil
import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest
from kafka import KafkaProducer

from broker.operators.cube.cubes_file import cubes_path
from broker.runtime import python_worker
from tools.faults.processes import descendants, kill
from tools.faults.small_disk import SmallDisk

if TYPE_CHECKING:
    from conftest import Process

    from broker.kafka.embedded import EmbeddedKafka

# In the gate test_folder.py takes the commit of a batch back, and test_keeper_model.py runs batches and starts again.
pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]

CUBE = {
    "name": "cube",
    "dimensions": [["n % 7"]],
    "measures": ["count(*) AS c", "sum(n) AS total", "max(n) AS most"],
    "grain_s": 60,
}
BATCH = 1_000
"""The records of a batch, at most."""

_PRELUDE = """
import os, signal
{imports}
honest, times = {owner}.{name}, [0]
def killing(*arguments, **named):
    times[0] += {when}
    if times[0] > 2 and {is_before}:
        os.kill(os.getpid(), signal.SIGKILL)
    found = honest(*arguments, **named)
    if times[0] > 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return found
{owner}.{name} = {kind}(killing)
"""


def prelude(owner: str, name: str, *, is_before: bool, when: str = "1", kind: str = "") -> str:
    """Have the daemon kill itself in its third call of a function, before or after the work of it."""
    module, _, cls = owner.rpartition(".")
    imports = f"from {module} import {cls}"
    return _PRELUDE.format(imports=imports, owner=cls, name=name, is_before=is_before, when=when, kind=kind)


_SPARK = "broker.stream.batch_runner.BatchRunner"
_COMMITS = "broker.stream.fold_commits.FoldCommits"
_STORE = "broker.operators.cube.store.Store"
_OF_MARKS = "'INTO marks' in str(arguments[1]) and bool(arguments[2])"
STEPS = {
    "read, and not bound": prelude("broker.plans.running_plan.RunningPlan", "bind", is_before=True),
    "bound, and not written": prelude(_SPARK, "_write", is_before=True),
    "written, and not committed": prelude(_SPARK, "_write", is_before=False),
    "within the commit": prelude(_STORE, "execute_all", is_before=False, when=_OF_MARKS),
    "committed, and not by Spark": prelude(_COMMITS, "commit", is_before=False),
    "told, and not by Spark": prelude("broker.stream.job.StreamJob", "_report", is_before=False),
}


class Cube:
    """The cube of a process's stream, beside all that was published."""

    def __init__(self, process: Process, kafka: EmbeddedKafka) -> None:
        self.process = process
        self.published: list[int] = []
        self._servers = kafka.bootstrap_servers

    def register(self, where: str = "n >= 0", **operator: Any) -> None:
        body = {"id": "all", "where": where, "topic": f"cube-{uuid.uuid4().hex}", "operator": {**CUBE, **operator}}
        answer = self.process.client.post("/v1/queries", json=body)
        assert answer.status_code == 201, answer.text

    def publish(self, count: int, *, partitions: int = 1) -> None:
        own = range(len(self.published), len(self.published) + count)
        producer = KafkaProducer(bootstrap_servers=self._servers)
        for number in own:
            value = json.dumps({"n": number}).encode()
            producer.send(self.process.topic, value, key=b"k", partition=number % partitions)
        producer.flush()
        producer.close()
        self.published += own

    def ask(self, *by: str) -> dict[str, Any]:
        answer = self.process.client.post("/v1/queries/all/cube/query", json={"by": list(by), "live": True})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def await_count(self, count: int) -> None:
        deadline = time.monotonic() + 300
        while self.ask()["rows"][0]["c"] < count:
            assert time.monotonic() < deadline, self.process.log.read_text("utf-8")
            time.sleep(0.1)

    def await_killed(self) -> None:
        assert self.process.child is not None
        assert self.process.child.wait(300) == -9, self.process.log.read_text("utf-8")

    def start(self) -> None:
        self.process.prelude = ""
        self.process.start()

    def check(self) -> None:
        """Compare with DuckDB over what was published, once all of it is through."""
        self.await_count(len(self.published))
        found = self.ask("n % 7")
        table = pa.table({"n": pa.array(self.published, pa.int32())})
        with duckdb.connect() as connection:
            connection.register("published", table)
            sql = "SELECT n % 7, count(*), sum(n), max(n) FROM published GROUP BY 1 ORDER BY 1"
            expected = connection.execute(sql).fetchall()
        assert [(row["group"]["n % 7"], row["c"], row["total"], row["most"]) for row in found["rows"]] == expected
        assert (found["whole"], found["gaps"]) == (True, [])


@pytest.fixture
def cube(process: Process, kafka: EmbeddedKafka) -> Cube:
    return Cube(process, kafka)


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_a_step_of_a_batch_it_counts_each_record_once(cube: Cube, step: str) -> None:
    cube.process.prelude = STEPS[step]
    cube.process.start()
    cube.register()
    cube.publish(4 * BATCH)
    cube.await_killed()
    cube.start()
    cube.publish(10)
    cube.check()


def test_killed_again_and_again_at_any_time_it_counts_each_record_once(cube: Cube) -> None:
    cube.process.start()
    cube.register()
    for _ in range(5):
        cube.publish(3 * BATCH)
        child = cube.process.child
        assert child is not None
        cube.await_count(len(cube.published) - 3 * BATCH + 1)
        os.kill(child.pid, 9)
        child.wait()
        cube.start()
    cube.check()


def test_without_the_folder_of_the_stream_what_is_covered_is_not_counted_again(cube: Cube) -> None:
    process = cube.process
    with process.file.open("a", encoding="utf-8") as file:
        file.write('starting_offsets = "earliest"\n')
    process.start()
    cube.register()
    # One batch each, so that it is cut alike when it comes again.
    cube.publish(BATCH)
    cube.check()
    cube.publish(BATCH)
    cube.check()
    assert process.child is not None
    os.kill(process.child.pid, 9)
    process.child.wait()
    shutil.rmtree(process.checkpoint)
    cube.start()
    cube.publish(BATCH)
    cube.check()


def test_beside_made_up_records_garbage_and_aborted_ones_it_counts_what_was_published(
    cube: Cube, kafka: EmbeddedKafka
) -> None:
    process = cube.process
    text = process.file.read_text("utf-8")
    process.file.write_text(text.replace("warm_up_s = 0", "warm_up_s = 4"), "utf-8")
    process.start()
    cube.register("true")
    cube.publish(BATCH)
    cube.await_count(BATCH)
    assert process.child is not None
    os.kill(process.child.pid, 9)
    process.child.wait()
    # The plan that is warmed up has the cube now.
    cube.start()
    servers = kafka.bootstrap_servers
    aborting = KafkaProducer(bootstrap_servers=servers, transactional_id=uuid.uuid4().hex)
    aborting.init_transactions()
    garbage = KafkaProducer(bootstrap_servers=servers)
    for _ in range(3):
        aborting.begin_transaction()
        for number in range(100):
            aborting.send(process.topic, json.dumps({"n": number}).encode(), partition=0)
        aborting.flush()
        for value in (b"?", b"", b"[1]", b'{"n": "x"}', None):
            garbage.send(process.topic, value, key=b"k", partition=0)
        garbage.flush()
        cube.publish(BATCH // 2)
        aborting.abort_transaction()
    for producer in (aborting, garbage):
        producer.close()
    cube.check()
    assert sum(row["c"] for row in cube.ask("n % 7")["rows"]) == len(cube.published)


def test_a_worker_that_is_killed_in_a_batch_is_counted_once(cube: Cube) -> None:
    process = cube.process
    process.start()
    cube.register()
    cube.publish(100)
    cube.await_count(100)
    assert process.child is not None
    workers = partial(descendants, process.child.pid, python_worker.__name__)
    for _ in range(3):
        cube.publish(2 * BATCH)
        await_until(workers, process)
        for pid in workers():
            kill(pid)
    cube.check()


def test_a_full_disk_delays_the_batch_and_loses_nothing(cube: Cube) -> None:
    process = cube.process
    disk = SmallDisk(cubes_path(process.checkpoint.parent, process.stream).parent, 4)
    try:
        if not disk.mount():
            pytest.skip("only root can mount a file system")
        process.start()
        cube.register()
        cube.publish(BATCH)
        cube.await_count(BATCH)
        disk.fill()
        cube.publish(BATCH)
        await_until(lambda: "free space" in str(process.reason()), process)
        assert cube.ask()["rows"][0]["c"] == BATCH
        # What is removed meanwhile is deleted later.
        operator = {**CUBE, "measures": ["count(*) AS other"]}
        body = {"id": "other", "where": "n >= 0", "topic": f"cube-{uuid.uuid4().hex}", "operator": operator}
        assert process.client.post("/v1/queries", json=body).status_code == 201
        assert process.client.delete("/v1/queries/other").status_code == 200
        disk.free()
        cube.check()
        await_until(process.ready, process)
    finally:
        disk.unmount()


def test_a_damaged_file_is_named_and_a_copy_of_it_goes_on(cube: Cube, kafka: EmbeddedKafka) -> None:
    process = cube.process
    process.start()
    cube.register()
    cube.publish(BATCH)
    cube.check()
    assert process.child is not None
    os.kill(process.child.pid, 9)
    process.child.wait()
    path = cubes_path(process.checkpoint.parent, process.stream)
    copies = [(own, own.read_bytes()) for own in path.parent.iterdir()]
    for own, _ in copies:
        own.unlink()
    path.write_bytes(b"no file of cubes " * 1_000)
    process.launch()
    cube.publish(BATCH)
    await_until(lambda: "is damaged" in str(process.reason()) or "no file of cubes" in str(process.reason()), process)
    path.unlink()
    for own, content in copies:
        own.write_bytes(content)
    await_until(process.ready, process)
    cube.check()


def await_until(wanted: Callable[[], bool], process: Process) -> None:
    deadline = time.monotonic() + 300
    while not wanted():
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.2)
