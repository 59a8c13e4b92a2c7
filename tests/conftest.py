"""Fixtures shared by the whole run: one Spark session and one embedded Kafka broker, both real."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.runtime.kafka import EmbeddedKafka


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local Spark session with the Kafka connector, set up as the daemon sets up its own."""
    from broker.runtime.spark import spark_session

    session = spark_session(app_name="asc-tests", master="local[2]", time_zone="UTC")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedKafka]:
    """A single-node Kafka broker with a data folder of its own."""
    from broker.runtime.kafka import EmbeddedKafka

    with EmbeddedKafka(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker
