"""A standby rehearses a start: it does all of it, and leaves nothing behind."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from broker.config.config import parse_config
from broker.daemon.standby_warm_up import warm_up_standby
from broker.errors import ConfigError

if TYPE_CHECKING:
    from conftest import Resting
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def test_batches_run_and_nothing_is_left(
    resting: Resting, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # Spark's own count: whatever group the jobs are of, and however many it remembers.
    jobs = spark.sparkContext._jsc.sc().dagScheduler()
    before = jobs.numTotalJobs()
    kept = sorted(resting.config.spark.checkpoint_dir.rglob("*"))
    warm_up_standby(resting.config, spark, resting.cluster)
    assert jobs.numTotalJobs() - before >= 2 * len(resting.config.streams)
    assert list(tmp_path.iterdir()) == []
    assert sorted(resting.config.spark.checkpoint_dir.rglob("*")) == kept


def test_what_spark_cannot_decode_is_found_before_the_turn_comes(
    resting: Resting, spark: SparkSession, tmp_path: Path
) -> None:
    (source, *_) = (stream.topic for stream in resting.config.streams.values())
    stream = {"topic": source, "format": "json", "schema": "d DATE", "options": {"dateFormat": "yyyy-bb"}}
    own = parse_config(
        {
            "kafka": {"bootstrap_servers": resting.cluster.bootstrap_servers},
            "spark": {"checkpoint_dir": str(tmp_path / "checkpoint"), "warm_up_s": 0},
            "streams": {"s": stream},
        }
    )
    with pytest.raises(ConfigError, match="yyyy-bb"):
        warm_up_standby(own, spark, resting.cluster)
    assert not (tmp_path / "checkpoint").exists()
