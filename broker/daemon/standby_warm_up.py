"""Warm-up of a standby: the work of a start, done once in a folder that is thrown away."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from broker.config.config import Config
from broker.kafka.cluster import KafkaCluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def warm_up_standby(config: Config, spark: SparkSession, cluster: KafkaCluster) -> None:
    """Validate a predicate and run batches of made-up records on each stream, with everything that its batches need.

    Nothing is written to Kafka, and nothing to the checkpoint folder, which is another daemon's meanwhile. Costs what
    the same steps of a start cost, and ``spark.warm_up_s``; they are done in a second or two then. Raises ConfigError
    where Spark cannot decode by a stream's options, KafkaError.
    """
    from broker.stream.stream import Stream

    with tempfile.TemporaryDirectory(prefix="asc-rehearsal-") as folder:
        settings = config.spark.model_copy(update={"checkpoint_dir": Path(folder)})
        aside = config.model_copy(update={"spark": settings})
        for name in config.streams:
            stream = Stream(name, aside, spark, cluster)
            try:
                analyser = stream.analyser
                analyser.misread([analyser.normalise("_offset < 0")])
                stream.warm_up(config.spark.warm_up_s / len(config.streams), is_rehearsal=True)
            finally:
                stream.stop()
