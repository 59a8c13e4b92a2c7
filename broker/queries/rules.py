"""The rules for destination topics, including the check for loops of streams that feed each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from broker.config.config import Config
from broker.config.sections import collision_name
from broker.errors import QueryError
from broker.queries.query import RegisteredQuery, check_topic


def check_destination(topic: str, stream: str, config: Config) -> None:
    """Raise QueryError unless queries of ``stream`` may deliver to ``topic``: the name is legal and not reserved."""
    check_topic(topic)
    if topic.startswith("__"):
        raise QueryError("destination topic", topic, "is internal to Kafka: choose a name that does not begin with __")
    if collision_name(topic).startswith(collision_name(config.lookup_topic(""))):
        raise QueryError("destination topic", topic, "is that of a look-up of cubes: choose another")
    use = config.internal_topics.get(collision_name(topic))
    if use is not None:
        raise QueryError("destination topic", topic, f"{use}: choose another")
    source = config.streams[stream].topic
    if topic == source:
        raise QueryError("destination topic", topic, f"is the source topic of '{stream}' itself: choose another")
    for other in config.source_topics:
        if topic != other and collision_name(topic) == collision_name(other):
            remedy = f"is '{other}' to Kafka, which takes '.' and '_' for equal: choose another"
            raise QueryError("destination topic", topic, remedy)


class TopicLoops:
    """The source topics that feed each other through queries, to refuse loops.

    ``feeds``: pairs of a stream and a source topic to which a standing query of the stream delivers. Cost: a walk over
    the streams for each query that delivers to a source topic; nothing for other queries.
    """

    def __init__(self, config: Config, feeds: Iterable[tuple[str, str]]) -> None:
        self._topics = {name: stream.topic for name, stream in config.streams.items()}
        self._sources = config.source_topics
        self._feeds: dict[str, set[str]] = {}
        for stream, topic in feeds:
            if stream in self._topics:
                self._feeds.setdefault(self._topics[stream], set()).add(topic)

    def refusal(self, query: RegisteredQuery) -> QueryError | None:
        """Return the error if a query would close a loop. Otherwise remember the topic to which the query delivers, for
        the checks of later queries, and return None.
        """
        source = self._topics[query.stream]
        if query.topic not in self._sources:
            return None
        if source in _reached(query.topic, self._feeds):
            remedy = f"leads back to the source '{source}' of the query's own stream: choose another"
            return QueryError("destination topic", query.topic, remedy)
        self._feeds.setdefault(source, set()).add(query.topic)
        return None


def _reached(topic: str, feeds: Mapping[str, set[str]]) -> set[str]:
    """Return the topics that records of a topic can reach, including the topic itself."""
    reached: set[str] = set()
    pending = [topic]
    while pending:
        at = pending.pop()
        if at not in reached:
            reached.add(at)
            pending.extend(feeds.get(at, ()))
    return reached
