"""The id of a stream's source topic, as Kafka reports it."""

from __future__ import annotations

from broker.kafka.cluster import KafkaCluster


class SourceTopicId:
    """The cached id of a source topic. It differs if a topic was deleted and created again.

    Several threads may read it.
    """

    def __init__(self, topic: str, cluster: KafkaCluster) -> None:
        self._topic = topic
        self._cluster = cluster
        self._id: str | None = None

    def read(self) -> str:
        """Return the id, or an empty text if Kafka reports none. Raise KafkaError."""
        topic_id = self._id
        if topic_id is None:
            # An id that Kafka did not report is requested again by the next call.
            self._id = topic_id = self._cluster.topic_id(self._topic)
        return topic_id or ""

    def forget(self) -> None:
        """Forget the cached id, because the topic may be another one after a failure."""
        self._id = None
