"""The partitions of a source topic that hold event time back: those with records that are still to be read."""

from __future__ import annotations

import logging

from broker.errors import KafkaError
from broker.failure import one_line
from broker.kafka.cluster import KafkaCluster
from broker.plans.running_plan import BoundBatch

LOG = logging.getLogger("asc.job")


def waiting_partitions(cluster: KafkaCluster, topic: str, batch: BoundBatch) -> frozenset[int]:
    """Return the partitions of which a batch has no record, though there are records after it.

    Their records may be earlier than all that the batch has: a keyed producer fills the partitions of a file in turns.
    None where Kafka does not say. Cost: a question to Kafka for a batch that lacks records of some partition.
    """
    lacking = [partition for partition, end in batch.end.items() if batch.first.get(partition, end) == end]
    if not lacking:
        return frozenset()
    try:
        ends = cluster.offsets(topic, end=True)
    except KafkaError as error:
        LOG.debug("the end of topic '%s' is not known: %s", topic, one_line(error))
        return frozenset()
    return frozenset(partition for partition in lacking if ends.get(partition, 0) > batch.end[partition])
