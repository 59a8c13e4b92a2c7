"""A stream before its job runs: put together from the configuration, or refused."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from broker.config.config import Config, parse_config
from broker.errors import ConfigError, KafkaError
from broker.stream.stream import Stream

if TYPE_CHECKING:
    from conftest import Resting
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def config_of(folder: Path, topic: str, **more: Any) -> Config:
    described = {"topic": topic, "format": "json", "starting_offsets": "earliest", "schema": "n INT", **more}
    return parse_config({"spark": {"checkpoint_dir": str(folder)}, "streams": {"s": described}})


@pytest.fixture
def topic(resting: Resting) -> str:
    name = f"source-{uuid.uuid4().hex}"
    resting.cluster.ensure_topics([name])
    return name


def test_it_begins_with_the_plan_of_no_query(resting: Resting, spark: SparkSession, tmp_path: Path, topic: str) -> None:
    stream = Stream("s", config_of(tmp_path, topic), spark, resting.cluster)
    assert (stream.name, stream.dead_letter_topic, stream.config.topic) == ("s", "s.dead-letter", topic)
    assert (len(stream.running.plan), stream.running.effective_offsets()) == (0, {0: 0})
    assert (stream.running.version_to_replay, stream.evaluation_errors.total) == (None, 0)
    # What was never started can be stopped, and again.
    for _ in range(2):
        stream.ask_to_stop()
        stream.stop()


def test_its_schema_is_read_once_and_names_what_predicates_see(
    resting: Resting, spark: SparkSession, tmp_path: Path, topic: str
) -> None:
    file = tmp_path / "schema.ddl"
    file.write_text("n INT NOT NULL, s STRING", "utf-8")
    config = config_of(tmp_path / "checkpoint", topic, schema=None, schema_file=str(file))
    stream = Stream("s", config, spark, resting.cluster)
    file.unlink()
    assert stream.fields.ddl() == "n INT, s STRING"
    predicate = stream.analyser.normalise("n > 1 AND s = 'x' AND _topic = 't'")
    assert [attribute.sql for attribute in predicate.p_attributes] == ["n", "s", "_topic"]


def test_what_spark_cannot_decode_by_keeps_it_from_being_made(
    resting: Resting, spark: SparkSession, tmp_path: Path, topic: str
) -> None:
    config = config_of(tmp_path, topic, options={"timestampFormat": "bbb"})
    with pytest.raises(ConfigError, match="timestampFormat"):
        Stream("s", config, spark, resting.cluster)
    assert not (tmp_path / "s").exists()


def test_without_its_topic_it_is_not_made(resting: Resting, spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(KafkaError, match="partitions of topic 'missing"):
        Stream("s", config_of(tmp_path, f"missing-{uuid.uuid4().hex}"), spark, resting.cluster)
