"""The Kafka cluster of the daemon: its topics, with their settings and offsets."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from asc.errors import AscError
from broker.config.sections import KafkaConfig
from broker.errors import MissingTopicError, QueryError, TopicError
from broker.failure import one_line
from broker.kafka.client import KafkaClient
from broker.plans.offsets import Offsets

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient

_RECORD_LIMIT = "max.message.bytes"
_CREATE_CHUNK = 200
"""The largest number of topics per request. A broker that creates a thousand at once answers after its clients have
timed out.
"""


class KafkaCluster:
    """The topics of one Kafka cluster, through one administration client that is created when first needed.

    Every method that communicates with Kafka raises KafkaError, in one line, if Kafka does not answer or refuses. Such
    a method raises QueryError if a query cannot use a topic as it requires.
    """

    def __init__(self, bootstrap_servers: str, config: KafkaConfig) -> None:
        self.client = KafkaClient(
            bootstrap_servers, config.options, config.timeout_s, named_by="kafka.bootstrap_servers"
        )
        self._config = config
        self._admin: KafkaAdminClient | None = None
        # Jobs and the API ask at the same time; the client is made for one thread.
        self._admin_lock = threading.RLock()

    @property
    def bootstrap_servers(self) -> str:
        return self.client.bootstrap_servers

    def close(self) -> None:
        if self._admin is not None:
            self._admin.close()
            self._admin = None

    def topics(self) -> set[str]:
        """Return the names of all topics."""
        with self._admin_lock, self.client.clear_errors():
            return set(self._connected().list_topics())

    @property
    def request_bytes(self) -> int:
        """The largest size of a record, with its headers, that is sent to Kafka."""
        return self._config.request_bytes

    def ensure_topics(
        self, names: Collection[str], settings: Mapping[str, str] | None = None, partitions: int | None = None
    ) -> None:
        """Create the missing topics: all or none, as far as the broker can check in advance.

        ``partitions``: the number of partitions of each topic, or None for the broker's default.
        """
        missing = set(names) - self.topics()
        for refusal in self._refused_creations(missing, settings).values():
            raise refusal
        self.create_topics(missing, settings, partitions)

    def ensure_destinations(self, names: Collection[str], kind: str) -> None:
        """Create missing topics as :meth:`ensure_topics` does. Raise an error for a topic that accepts only records
        with a key.
        """
        refused, missing = self.destinations(names, kind)
        for refusal in refused.values():
            raise refusal
        self.create_topics(missing)

    def destinations(
        self, names: Collection[str], kind: str = "destination topic", *, keyed: Collection[str] = ()
    ) -> tuple[dict[str, AscError], set[str]]:
        """Return the refusals of unusable destination topics, by name, and the names of the topics to create.

        A topic is unusable if it accepts only records with a key, because one record without a key would stop a stream.
        It is unusable too if it is missing and cannot be created. ``keyed``: topics that receive only records with a
        key, and may be compacted.
        """
        wanted, there = set(names), self.topics()
        refused = self.compacted((wanted & there) - set(keyed), kind)
        refused.update(self._refused_creations(wanted - there))
        return refused, wanted - there - refused.keys()

    def compacted(self, names: Collection[str], kind: str = "destination topic") -> dict[str, AscError]:
        """Return the compacted topics among existing ones, each with a refusal: they accept only records with a key."""
        remedy = "is compacted, so it takes no record without a key: name another, or set its cleanup.policy to delete"
        return {
            name: QueryError(kind, name, remedy)
            for name, settings in self._settings_of(names)
            if "compact" in settings["cleanup.policy"]
        }

    def create_topics(
        self, names: Collection[str], settings: Mapping[str, str] | None = None, partitions: int | None = None
    ) -> None:
        """Create missing topics, and wait until they exist. ``partitions``: as in :meth:`ensure_topics`."""
        for refusal in self._requested(names, settings, check_only=False, partitions=partitions).values():
            raise refusal

    def topic_settings(self, name: str) -> dict[str, str]:
        """Return the settings of a topic, defaults included."""
        return dict(self._settings_of([name]))[name]

    def record_limits(self, names: Collection[str]) -> dict[str, int]:
        """Return, for each topic, the size in bytes of the largest record that it accepts from this daemon."""
        most = self._config.request_bytes
        return {name: min(most, int(settings[_RECORD_LIMIT])) for name, settings in self._settings_of(names)}

    def topic_id(self, name: str) -> str | None:
        """Return the id that distinguishes a topic from a later one of the same name. Return None if Kafka provides no
        id.
        """
        with self._admin_lock, self.client.clear_errors():
            (description,) = self._connected().describe_topics([name])
        found = description.get("topic_id")
        return None if found is None or found == UUID(int=0) else str(found)

    def partitions(self, name: str) -> list[int]:
        """Return the partitions of a topic, sorted."""
        with self._admin_lock, self.client.clear_errors():
            (description,) = self._connected().describe_topics([name])
        if not description["partitions"]:
            raise TopicError("partitions of topic", name, "cannot be read: is it there, and described to us?")
        return sorted(int(partition["partition_index"]) for partition in description["partitions"])

    def offsets(self, name: str, *, end: bool) -> Offsets:
        """Return the first offset of each partition of a topic. With ``end``, return the next offset to be written."""
        from kafka import TopicPartition

        partitions = [TopicPartition(name, partition) for partition in self.partitions(name)]
        consumer = self.client.consumer()
        try:
            with self.client.clear_errors():
                found = consumer.end_offsets(partitions) if end else consumer.beginning_offsets(partitions)
        finally:
            consumer.close()
        return {partition.partition: int(offset) for partition, offset in found.items()}

    def _settings_of(self, names: Collection[str]) -> Iterator[tuple[str, dict[str, str]]]:
        from kafka.admin import ConfigResource, ConfigResourceType

        wanted = sorted(names)
        for start in range(0, len(wanted), _CREATE_CHUNK):
            resources = [ConfigResource(ConfigResourceType.TOPIC, n) for n in wanted[start : start + _CREATE_CHUNK]]
            with self._admin_lock, self.client.clear_errors():
                found = self._connected().describe_configs(resources, config_filter="all")["topic"]
            for name, settings in found.items():
                if not settings:
                    raise TopicError("settings of topic", name, "cannot be read: is it there, and described to us?")
                yield name, {key: str(setting["value"]) for key, setting in settings.items()}

    def _refused_creations(
        self, names: Collection[str], settings: Mapping[str, str] | None = None
    ) -> dict[str, AscError]:
        if self._config.allow_topic_creation:
            return self._requested(names, settings, check_only=True)
        remedy = "create it, or set kafka.allow_topic_creation = true"
        return {name: MissingTopicError("missing topic", name, remedy) for name in sorted(names)}

    def _requested(
        self,
        names: Collection[str],
        settings: Mapping[str, str] | None,
        *,
        check_only: bool,
        partitions: int | None = None,
    ) -> dict[str, AscError]:
        """Request the creation of topics. With ``check_only``, only ask Kafka whether it would create them. Return
        Kafka's refusals by the name of the topic.
        """
        found: dict[str, AscError] = {}
        wanted = sorted(names)
        for start in range(0, len(wanted), _CREATE_CHUNK):
            chunk = wanted[start : start + _CREATE_CHUNK]
            found.update(self._answered(chunk, dict(settings or {}), partitions, check_only=check_only))
        return found

    def _answered(
        self, names: list[str], settings: dict[str, str], partitions: int | None, *, check_only: bool
    ) -> Iterator[tuple[str, AscError]]:
        from kafka.errors import InvalidTopicError, NoError, TopicAlreadyExistsError, for_code

        if "cleanup.policy" in settings:
            partitions = 1
        else:
            partitions = partitions or self._config.partitions
            settings = {_RECORD_LIMIT: str(self._config.request_bytes), **settings}
        request = {
            name: {
                "num_partitions": partitions,
                "replication_factor": self._config.replication_factor,
                "configs": settings,
            }
            for name in names
        }
        with self._admin_lock, self.client.clear_errors():
            admin = self._connected()
            answer = admin.create_topics(request, validate_only=check_only, raise_errors=False)
            refused = [
                (topic, kind)
                for topic in answer["topics"]
                if (kind := for_code(topic["error_code"])) not in (NoError, TopicAlreadyExistsError)
            ]
            if not check_only and not refused:
                admin.wait_for_topics(names)
        for topic, kind in refused:
            reason = one_line(topic.get("error_message") or kind.description)
            # A valid name is refused as invalid only if it collides with another topic, as "a.b" with "a_b".
            refusal = QueryError if kind is InvalidTopicError else TopicError
            yield topic["name"], refusal("topic", topic["name"], f"cannot be created: {reason}")

    def _connected(self) -> KafkaAdminClient:
        if self._admin is None:
            self._admin = self.client.admin()
        return self._admin
