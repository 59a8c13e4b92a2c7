"""The warm-up of a standby: it runs the steps of a start once, in a temporary folder."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from broker.config.config import Config
from broker.kafka.cluster import KafkaCluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def warm_up_standby(config: Config, spark: SparkSession, cluster: KafkaCluster) -> None:
    """Validate a predicate and run batches of generated records on each stream. These batches use the same components
    as the batches of a running stream.

    Nothing is written to Kafka or to the checkpoint folder, which belongs to another daemon meanwhile. Cost: that of
    the same steps of a start, and ``spark.warm_up_s``; later these steps take a second or two. Raise ConfigError if
    Spark cannot decode with a stream's options. Raise KafkaError.
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
