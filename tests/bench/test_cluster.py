"""The benchmark of a cluster, once at a size that measures nothing; what it makes of processor time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bench.cluster
from bench.cluster import DRIVER_JVM, DRIVER_PYTHON, EXECUTOR_JVM, EXECUTOR_PYTHON, KAFKA, KINDS, carried, limit


def test_a_core_carries_what_its_processor_time_says() -> None:
    spent = {DRIVER_JVM: 1.5, DRIVER_PYTHON: 0.5, EXECUTOR_JVM: 6.0, EXECUTOR_PYTHON: 2.0, KAFKA: 4.0}
    assert carried({"records": 800_000, "cpu_s": spent}) == {
        "executor": 100_000.0,
        "driver": 400_000.0,
        "kafka": 200_000.0,
    }


@pytest.mark.parametrize(
    ("busy", "others", "partitions", "named"),
    [(1.2, 0.7, 1, "the machine's cores"), (1.2, 0.1, 1, "partitions"), (1.2, 0.1, 4, "tasks")],
)
def test_the_limit_is_the_machine_before_the_partitions(
    busy: float, others: float, partitions: int, named: str
) -> None:
    drained: dict[str, Any] = {"busy_cores": busy, "others_cores": others}
    assert named in limit(drained, partitions, slots=2, cores=2)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(600)
def test_a_backlog_is_drained_by_two_workers(tmp_path: Path) -> None:
    result = bench.cluster.run(quick=True, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "cluster.json").read_text("utf-8"))
    (each,) = result["results"]
    assert 0 < each["records"] <= 3_000
    assert tuple(each["cpu_s"]) == KINDS
    # It started and decoded in the executors, and what they take is told from the driver's.
    assert each["cpu_s"][EXECUTOR_JVM] > 0
    assert each["cpu_s"][DRIVER_JVM] > 0
    assert {part["workload"] for part in result["parts"]} == {"HEM-like", "mixed", "alerts"}
    assert "workers: 2" in bench.cluster.table(result)
