"""What a query may be called, where it may deliver to, and that streams do not feed each other in a circle."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from broker.config.config import Config
from broker.config.sections import TOPIC_FORM
from broker.errors import QueryError
from broker.queries.query import RegisteredQuery

_ID_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_ID_REMEDY = "use 1 to 200 of A-Z a-z 0-9 . _ -, a letter or digit first"
_LABELS_MAX = 64
_LABEL_CHARS_MAX = 1_000


def check_id(query_id: str) -> str:
    """The id, when it is of legal form; QueryError otherwise.

    >>> check_id("late arrivals")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    broker...QueryError: query id 'late arrivals': use 1 to 200 of A-Z a-z 0-9 . _ -, a letter or digit first
    """
    if not _ID_FORM.fullmatch(query_id):
        raise QueryError("query id", query_id[:250], _ID_REMEDY)
    return query_id


def check_labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    """The labels, when they are few and short; QueryError otherwise."""
    if len(labels) > _LABELS_MAX:
        raise QueryError("number of labels", len(labels), f"give a query at most {_LABELS_MAX}")
    for key, value in labels.items():
        if not key or "=" in key or len(key) > _LABEL_CHARS_MAX or len(value) > _LABEL_CHARS_MAX:
            raise QueryError(
                "label", key[:250], f"use a key without '=' and at most {_LABEL_CHARS_MAX} characters each"
            )
    return labels


def check_destination(topic: str, stream: str, config: Config) -> None:
    """QueryError unless queries of ``stream`` may deliver to ``topic``: a legal name, and no loop."""
    if not TOPIC_FORM.fullmatch(topic) or topic in (".", ".."):
        raise QueryError("destination topic", topic[:300], "use 1 to 249 of the characters A-Z a-z 0-9 . _ -")
    if topic.startswith("__"):
        raise QueryError("destination topic", topic, "is internal to Kafka: choose a name that does not begin with __")
    if topic == config.kafka.registry_topic:
        raise QueryError("destination topic", topic, "is the registry of queries: choose another")
    if topic == config.streams[stream].topic:
        raise QueryError("destination topic", topic, f"is the source topic of '{stream}' itself: choose another")
    if topic in {config.dead_letter_topic(name) for name in config.streams}:
        raise QueryError("destination topic", topic, "takes undecodable records: choose another")


class TopicLoops:
    """Which source topics feed which others through queries, so that no record comes round again.

    ``feeds``: the streams that stand with a query that delivers to a source topic, each with that topic. Cost: a walk
    over the streams a query that delivers to a source topic; nothing for the others.
    """

    def __init__(self, config: Config, feeds: Iterable[tuple[str, str]]) -> None:
        self._topics = {name: stream.topic for name, stream in config.streams.items()}
        self._sources = config.source_topics
        self._feeds: dict[str, set[str]] = {}
        for stream, topic in feeds:
            if stream in self._topics:
                self._feeds.setdefault(self._topics[stream], set()).add(topic)

    def refusal(self, query: RegisteredQuery) -> QueryError | None:
        """Why a query would close a loop; None, and it counts as standing from now on, where it would not."""
        source = self._topics[query.stream]
        if query.topic not in self._sources:
            return None
        if source in _reached(query.topic, self._feeds):
            remedy = f"leads back to the source '{source}' of the query's own stream: choose another"
            return QueryError("destination topic", query.topic, remedy)
        self._feeds.setdefault(source, set()).add(query.topic)
        return None


def _reached(topic: str, feeds: Mapping[str, set[str]]) -> set[str]:
    """The topics that records of a topic can reach, itself included."""
    reached: set[str] = set()
    ahead = [topic]
    while ahead:
        at = ahead.pop()
        if at not in reached:
            reached.add(at)
            ahead.extend(feeds.get(at, ()))
    return reached
