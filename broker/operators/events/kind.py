"""The operator kind ``events``: enter, exit and lost events of the objects that a query accepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from asc.operators.events.event_query import OP, EventQuery
from asc.operators.feed import QuerySettings
from asc.operators.registration import since_of
from asc.predicate.normal_form.disjunctive_form import Predicate
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.operators.events.body import EventsBody
from broker.operators.events.definition import EventsDefinition
from broker.operators.events.kept import EventsKept
from broker.operators.expression import OperatorExpressions, RecordAnalyser
from broker.operators.feed_destination import FeedDestination, Track, hashed
from broker.operators.feed_part import PARTS
from broker.operators.kept_body import KeptBody
from broker.operators.kind import StreamContext, read_fields
from broker.operators.kind_body import KindBody

if TYPE_CHECKING:
    from broker.kafka.cluster import KafkaCluster
    from broker.operators.feed_task import PartState
    from broker.operators.stateful_query import FeedReader

_RECORD_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class EventsKind:
    """The operator kind of event queries.

    A track has an observation of each decoded record, because a record that the query does not accept may cause an
    exit. The object's key determines the part of the feed.
    """

    name: str = OP
    noun: str = "event query"
    definition: type[EventsDefinition] = EventsDefinition
    body: type[KindBody] = EventsBody
    handoff: Literal["feed"] = "feed"
    limits: tuple[str, ...] = ("stream_event_queries", "stream_objects")
    allows_join: bool = True
    allows_compacted_topic: bool = False
    held_noun: str = "objects"
    summed_figures: tuple[str, ...] = ("objects_inside",)
    kept: type[KeptBody] | None = EventsKept

    def read(
        self, definition: EventsDefinition, analyser: RecordAnalyser, *, patiently: bool = False
    ) -> OperatorExpressions:
        """Return the checked expressions of the key and the time."""
        return OperatorExpressions(read_fields(definition, analyser))

    def excess(self, definition: EventsDefinition, limits: LimitsConfig) -> QueryError | None:
        """Return None, because no limit applies to the definition of one query alone."""
        return None

    def daemon_part(self, cluster: KafkaCluster) -> None:
        """Return None, because no part lives as long as the daemon."""

    def destination(
        self,
        definition: EventsDefinition,
        query: QuerySettings,
        predicate: Predicate,
        expressions: OperatorExpressions,
    ) -> FeedDestination:
        """Return the destination of a query, as plans store it. An event has as the position of the object the first
        position that the predicate reads.
        """
        key, time_us = (own.read[0].sql for own in expressions.fields)
        positions = [attribute for attribute in predicate.read if attribute.parts]
        position = positions[0].part_texts if positions else ()
        name = hashed([key, time_us, *position])
        track = Track(name, self.name, key, time_us, position, None, observes_all=True, by_key=True)
        dwell_us, lost_after_us = (round(s * 1_000_000) for s in (definition.dwell_s, definition.lost_after_s))
        own = EventQuery(
            *(query.id, query.topic, name, track.time_name, query.selections, definition.kinds),
            *(dwell_us, lost_after_us, since_of(query.definition)),
        )
        return FeedDestination(track, own.settings())

    def held_limit(self, limits: LimitsConfig, queries: int) -> int:
        """Return the largest number of objects that one part of the feed may hold."""
        return max(1, limits.stream_objects // PARTS)

    def record_bytes(self, definition: EventsDefinition) -> int:
        """Return the size in bytes that an event may reach. The size includes a long key, and the names of query, shape
        and source.
        """
        return _RECORD_BYTES

    def part(self, state: bytes | None) -> PartState[Any]:
        """Return the state of a part of the feed from its bytes. If ``state`` is None, return the state of a part that
        has read no messages.
        """
        from asc.operators.events.bucket import Bucket

        return Bucket() if state is None else Bucket.of_bytes(state)

    def reader(self, stream: StreamContext) -> FeedReader:
        """Return the feed reader that computes events from observations."""
        from broker.operators.events.reader import EventsReader

        return EventsReader(stream.sink, stream.messages_max)


EVENTS = EventsKind()
