"""The daemon that is measured in a process of its own (that it delivers is tested with the benchmarks that use it)."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.daemon_process import DaemonProcess
from bench.dbscan_served import configured
from bench.dbscan_sizes import SERVED
from broker.config.config import load_config
from broker.config.sections import SparkConfig
from workloads.subscribers import TOPICS

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka


@pytest.mark.kafka
def test_its_configuration_is_whole(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    name = f"daemon-{uuid.uuid4().hex}"
    daemon = DaemonProcess(tmp_path, kafka, name, batch=123)
    config = load_config(tmp_path / name / "asc.toml")
    assert config.spark.max_records_per_batch == 123
    assert config.spark.master == SparkConfig().master
    assert {stream.topic for stream in config.streams.values()} == {daemon.source}
    assert len(set(daemon.destinations)) == TOPICS


@pytest.mark.kafka
def test_that_of_dbscan_queries_has_two_cores_on_any_machine(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    configured(tmp_path, kafka, SERVED)
    config = load_config(tmp_path / "dbscan" / "asc.toml")
    assert config.spark.master == "local[2]"
