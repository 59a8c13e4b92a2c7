"""The starting offsets of a stream, stored at its first start."""

from __future__ import annotations

import json
from pathlib import Path

from broker.config.streams import StreamConfig
from broker.errors import BrokerError
from broker.kafka.cluster import KafkaCluster
from broker.plans.binding import write_durably
from broker.plans.checkpoint import begin_anew
from broker.plans.offsets import Offsets


def starting_offsets(folder: Path, cluster: KafkaCluster, stream: StreamConfig) -> Offsets:
    """Return the offsets at which a stream starts. The first call writes them to a file in the stream's folder, and
    later calls read this file.

    Spark uses them only until it has a checkpoint. Raise KafkaError. Raise BrokerError if the file is damaged.
    """
    path = folder / "starting-offsets.json"
    if path.exists():
        try:
            return {int(partition): int(offset) for partition, offset in json.loads(path.read_bytes()).items()}
        except (ValueError, TypeError, AttributeError) as error:
            remedy = f"is damaged ({error}): put it back, or {begin_anew(folder)}"
            raise BrokerError("checkpoint", str(path), remedy) from error
    found = cluster.offsets(stream.topic, end=stream.starting_offsets == "latest")
    write_durably(path, json.dumps({str(partition): offset for partition, offset in found.items()}))
    return found
