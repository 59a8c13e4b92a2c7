"""Where a query may deliver to, and that streams do not feed each other in a circle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from broker.config.config import Config
from broker.errors import QueryError
from broker.queries.query import RegisteredQuery, check_topic


def check_destination(topic: str, stream: str, config: Config) -> None:
    """QueryError unless queries of ``stream`` may deliver to ``topic``: a legal name, and no loop."""
    check_topic(topic)
    if topic.startswith("__"):
        raise QueryError("destination topic", topic, "is internal to Kafka: choose a name that does not begin with __")
    if topic == config.kafka.registry_topic:
        raise QueryError("destination topic", topic, "is the registry of queries: choose another")
    if topic == config.streams[stream].topic:
        raise QueryError("destination topic", topic, f"is the source topic of '{stream}' itself: choose another")
    if topic in {config.dead_letter_topic(name) for name in config.streams}:
        raise QueryError("destination topic", topic, "takes undecodable records: choose another")
    if topic in {config.feed_topic(name) for name in config.streams}:
        raise QueryError("destination topic", topic, "is the feed of a stream, which the broker reads: choose another")


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
