"""The throughput of a Kafka backlog through a daemon whose batches run on a standalone cluster with one and with two
workers.

The benchmark also measures the processor time of each kind of process, and the cost of predicates that are divided over
two executors.
"""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bench import split_plan
from bench.cpu_time import cpu_s_by_process, machine_cpu_s
from bench.daemon_process import DaemonProcess
from bench.machine import machine
from bench.result_file import write_result
from bench.standalone import StandaloneCluster
from bench.stream import publish_backlog
from broker.kafka.embedded import EmbeddedKafka
from broker.runtime.java import find_java
from broker.runtime.spark import spark_session

DRIVER_PYTHON, DRIVER_JVM = "driver, Python", "driver, JVM"
EXECUTOR_JVM, EXECUTOR_PYTHON = "executors, JVM", "executors, Python"
KAFKA, SPARK = "Kafka", "master and workers"
KINDS = (DRIVER_PYTHON, DRIVER_JVM, EXECUTOR_JVM, EXECUTOR_PYTHON, SPARK, KAFKA)

_BY_COMMAND = {
    b"\0-m\0broker.runtime.python_worker": EXECUTOR_PYTHON,
    b"CoarseGrainedExecutorBackend": EXECUTOR_JVM,
    b"org.apache.spark.deploy.master.": SPARK,
    b"org.apache.spark.deploy.worker.": SPARK,
    b"kafka.Kafka": KAFKA,
}
_EXECUTOR_MIB = 1_024
_OPTIONS = {"spark.driver.host": "127.0.0.1", "spark.executor.memory": f"{_EXECUTOR_MIB}m"}
_BUSY = 0.9
"""The least share of the machine's cores that counts as fully busy. The share is less than 1 because the clock and the
kernel's counts are not read at the same instant.
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A set of standing queries, the partitions of each topic, and the numbers of workers (one core each) that drain a
    backlog.

    With 0 workers, batches run in the daemon's own process on all cores.
    """

    queries: int
    partitions: int
    workers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement. ``records`` and ``batch``: the numbers of records of a backlog and of a batch.
    ``split``: the size of the measurement of divided plans.
    """

    cases: tuple[Case, ...]
    records: int
    batch: int
    split: split_plan.Size


FULL = Size(
    (Case(1_000, 4, (0, 1, 2)), Case(1_000, 1, (2,)), Case(1_000, 16, (2,)), Case(100_000, 4, (0, 1, 2))),
    2_000_000,
    200_000,
    split_plan.FULL,
)
QUICK = Size((Case(10, 2, (2,)),), 3_000, 500, split_plan.QUICK)


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``cluster.json`` into the folder, and return the content of the file.

    Kafka, driver, master and workers share this machine. The backlog exists before a daemon starts; the time excludes
    the first batch. Raises RuntimeError if a daemon does not become ready or does not finish, or if the parts of a plan
    together find other matches than the whole plan.
    """
    size = QUICK if quick else FULL
    spark = spark_session(app_name="asc-bench-cluster")
    divided = [(name, queries) for queries in size.split.queries for name in split_plan.WORKLOADS]
    total = len(divided) + sum(len(case.workers) for case in size.cases)
    steps = tqdm(total=total, desc="cluster", leave=False, disable=None)
    results = []
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        for case in size.cases:
            daemon = DaemonProcess(
                Path(name),
                kafka,
                f"queries-{case.queries}-{case.partitions}",
                batch=size.batch,
                partitions=case.partitions,
                options=_OPTIONS,
                quick=quick,
            )
            daemon.write_subscribers(case.queries)
            for workers in case.workers:
                publish_backlog(spark, kafka.bootstrap_servers, daemon.source, size.records)
                drained = _drained(daemon, Path(name), workers, size.records)
                cores = os.cpu_count() or 1
                drained["limit"] = limit(drained, case.partitions, workers or cores, cores)
                results.append({"queries": case.queries, "partitions": case.partitions, "workers": workers, **drained})
                steps.update()
    parts = []
    for workload, queries in divided:
        parts.append(split_plan.measured(workload, queries, size.split))
        steps.update()
    steps.close()
    result = {
        "benchmark": "cluster",
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "records": {
            "count": size.records,
            "batch": size.batch,
            "format": "JSON, 12 columns, some 150 bytes",
            "deliveries": 1.5,
        },
        "results": results,
        "parts": parts,
    }
    write_result(output_dir, "cluster", result)
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as text: records per second and the resource that limits them.

    The text also contains the processor time per record of each kind of process, and the costs of divided plans. It
    also estimates the rate of a core that runs only one kind of process.
    """
    records = result["records"]
    lines = [f"a backlog of {records['count']:,} records, batches of {records['batch']:,}; workers 0: no cluster", ""]
    for each in result["results"]:
        lines.append(
            f"{_name(each)}  {each['records_a_s']:>9,.0f} records/s; cores busy {each['busy_cores']:.2f}, "
            f"by others {each['others_cores']:.2f}; limit: {each['limit']}"
        )
    lines += ["", "microseconds of processor time a record"]
    lines.append(f"{'':{len(_name(result['results'][0]))}}" + "".join(f"{kind:>20}" for kind in KINDS))
    for each in result["results"]:
        us = (each["cpu_s"][kind] / each["records"] * 1e6 for kind in KINDS)
        lines.append(_name(each) + "".join(f"{own:>20.1f}" for own in us))
    lines += ["", "records/s that a core carries which does nothing else"]
    for each in result["results"]:
        if each["workers"]:
            own = carried(each)
            batch_ms = records["batch"] / own["driver"] * 1e3
            lines.append(
                f"{_name(each)}  an executor's {own['executor']:>7,.0f}, Kafka's {own['kafka']:>7,.0f}, "
                f"the driver's {own['driver']:>9,.0f} ({batch_ms:.0f} ms a batch): "
                f"as many as {own['driver'] / own['executor']:.0f} executors"
            )
    return "\n".join([*lines, "", "plans divided in two, microseconds a tuple", split_plan.table(result["parts"])])


def limit(drained: dict[str, Any], partitions: int, slots: int, cores: int) -> str:
    """Return the name of the resource that limited the rate of draining a backlog, derived from the number of busy
    cores.
    """
    if drained["busy_cores"] + drained["others_cores"] >= _BUSY * cores:
        return "the machine's cores"
    if partitions < slots:
        return "the source's partitions"
    return "tasks, one at a time on an executor's core"


def carried(each: dict[str, Any]) -> dict[str, float]:
    """Estimate, from processor time, the records per second of a core that runs only executors, only the driver or only
    Kafka.

    The estimate is optimistic: cores that share caches and memory with other processes are slower.
    """
    spent = each["cpu_s"]
    return {
        "executor": each["records"] / max(0.01, spent[EXECUTOR_JVM] + spent[EXECUTOR_PYTHON]),
        "driver": each["records"] / max(0.01, spent[DRIVER_JVM] + spent[DRIVER_PYTHON]),
        "kafka": each["records"] / max(0.01, spent[KAFKA]),
    }


def _name(each: dict[str, Any]) -> str:
    return f"{each['queries']:>9,} queries, partitions: {each['partitions']:>2}, workers: {each['workers']}"


def _drained(daemon: DaemonProcess, folder: Path, workers: int, records: int) -> dict[str, Any]:
    """Start a daemon that drains the backlog in Kafka, and return the records per second and the processor time by kind
    of process.
    """
    with ExitStack() as started:
        given: tuple[str, ...] = ()
        if workers:
            own = Path(tempfile.mkdtemp(prefix="cluster-", dir=folder))
            cluster = started.enter_context(StandaloneCluster(own, workers=workers, memory_mib=_EXECUTOR_MIB))
            given = ("--master", cluster.url)
        ready_s = started.enter_context(daemon.running(*given))
        first, start_records = daemon.reached(1)
        before, machine_before = _cpu_s_by_kind(daemon), machine_cpu_s()
        end, done = daemon.reached(records)
        spent = {kind: seconds - before[kind] for kind, seconds in _cpu_s_by_kind(daemon).items()}
        everything, seconds = machine_cpu_s() - machine_before, time.monotonic() - first
    busy = sum(spent.values())
    return {
        "ready_s": round(ready_s, 2),
        "records": done - start_records,
        "seconds": round(end - first, 3),
        "records_a_s": round((done - start_records) / (end - first), 1),
        "cpu_s": {kind: round(own, 2) for kind, own in spent.items()},
        "busy_cores": round(busy / seconds, 2),
        "others_cores": round(max(0.0, everything - busy) / seconds, 2),
    }


def _cpu_s_by_kind(daemon: DaemonProcess) -> dict[str, float]:
    """Return the seconds of processor time so far by kind of process. Without a cluster, the driver's JVM also runs the
    tasks.
    """
    spent = dict.fromkeys(KINDS, 0.0)
    of_daemon = cpu_s_by_process(daemon.pid)
    for process, seconds in {**cpu_s_by_process(), **of_daemon}.items():
        if (kind := _kind(process, daemon.pid, process in of_daemon)) is not None:
            spent[kind] += seconds
    return spent


def _kind(process: int, daemon: int | None, of_daemon: bool) -> str | None:
    """Return the kind of a process, such as the driver's JVM, by its command line. Return None if the process belongs
    to the benchmark itself or has ended.
    """
    if process == daemon:
        return DRIVER_PYTHON
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return None
    for name, kind in _BY_COMMAND.items():
        if name in command:
            return kind
    return DRIVER_JVM if of_daemon else None
