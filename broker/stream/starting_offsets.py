"""Where a stream begins, kept from its first start on."""

from __future__ import annotations

import json
from pathlib import Path

from broker.config.streams import StreamConfig
from broker.kafka.cluster import KafkaCluster
from broker.plans.binding import write_durably
from broker.plans.offsets import Offsets


def starting_offsets(folder: Path, cluster: KafkaCluster, stream: StreamConfig) -> Offsets:
    """The offsets that a stream began or begins at, from a file in its folder, which the first call writes.

    Spark looks at them only until its checkpoint says more. KafkaError.
    """
    path = folder / "starting-offsets.json"
    if path.exists():
        return {int(partition): int(offset) for partition, offset in json.loads(path.read_text("utf-8")).items()}
    found = cluster.offsets(stream.topic, end=stream.starting_offsets == "latest")
    write_durably(path, json.dumps({str(partition): offset for partition, offset in found.items()}))
    return found
