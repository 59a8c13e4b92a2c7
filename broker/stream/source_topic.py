"""The source topic of a stream: the check that it is still the same topic, and the remedy if it is not."""

from __future__ import annotations

import json
import re
from pathlib import Path

from broker.config.streams import StreamConfig
from broker.errors import KafkaError
from broker.kafka.cluster import KafkaCluster
from broker.plans.binding import write_durably

_DATA_LOSS = re.compile(
    r"Some data may have been lost because they are not available in Kafka any more;.*?"
    r"Reason:\s*(.*?)\s*(?:with consumer group|SQLSTATE|\.\s|\.?\Z)",
    re.DOTALL,
)
"""The pattern of Spark's error for lost offsets. Only the reason is shown, because the rest of the text suggests a
setting of Spark.
"""


class SourceTopic:
    """The identity of a source topic, by the topic id of Kafka, which is stored in the stream's folder.

    The id differs if a topic was deleted and created again. The first call of :meth:`fault` that Kafka answers stores
    the id. If an older folder has no id, the topic that exists at that time is assumed to be the right one.
    """

    def __init__(self, stream: StreamConfig, folder: Path, cluster: KafkaCluster) -> None:
        self._stream = stream
        self._folder = folder
        self._cluster = cluster
        self._path = folder / "source-topic.json"

    def fault(self) -> str | None:
        """Return an error text with the remedy if the topic is another one than before.

        Return None if it is the same, or if Kafka has no topic ids. Raise KafkaError if Kafka does not answer.
        """
        now = self._cluster.topic_id(self._stream.topic)
        if now is None:
            return None
        try:
            noted = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            noted = {}
        except (OSError, ValueError) as error:
            return (
                f"cannot be compared with the topic of before, {self._path} cannot be read ({error}): {self._remedy()}"
            )
        before = noted.get(self._stream.topic)
        if before is None:
            write_durably(self._path, json.dumps({self._stream.topic: now}))
        if before in (None, now):
            return None
        return f"was deleted and made again (its id was {before}, and is {now}): {self._remedy()}"

    def lost(self, text: str) -> str | None:
        """Return the remedy, in one line, if the topic does not have the records to be read next.

        ``text``: Spark's whole text of a failure. Return None if the failure is of another kind.
        """
        try:
            fault = self.fault()
        except KafkaError:
            fault = None
        if fault is not None:
            return f"source topic '{self._stream.topic}': {fault}"
        found = _DATA_LOSS.search(text)
        if found is None:
            return None
        reason = " ".join(found[1].split())
        return (
            f"source topic '{self._stream.topic}': records expired unread, or the topic was made again ({reason}): "
            f"{self._remedy()}"
        )

    def _remedy(self) -> str:
        return (
            f"stop the daemon and remove {self._folder}, and the stream begins at its starting_offsets, "
            f"'{self._stream.starting_offsets}'"
        )
