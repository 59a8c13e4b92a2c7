"""The operator kind ``near``: pairs of the objects that a query accepts, within a distance of each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from asc.operators.feed import QuerySettings
from asc.operators.near.near_query import OP, NearQuery
from asc.operators.registration import since_of
from asc.predicate.normal_form.disjunctive_form import Predicate
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.operators.expression import Expression, OperatorExpressions, RecordAnalyser
from broker.operators.feed_destination import FeedDestination, Track, hashed
from broker.operators.kept_body import KeptBody
from broker.operators.kind import StreamContext, conditions_of, read_fields
from broker.operators.kind_body import KindBody
from broker.operators.near.body import NearBody
from broker.operators.near.condition import near_condition
from broker.operators.near.definition import NearDefinition
from broker.operators.near.kept import NearKept

if TYPE_CHECKING:
    from broker.kafka.cluster import KafkaCluster
    from broker.operators.feed_task import PartState
    from broker.operators.stateful_query import FeedReader

_TRACK_PREFIX = "n"
"""The first letter of the names of tracks of near queries. Messages of form 1 have no kind, and are recognised by this
letter (:mod:`asc.operators.feed_form_1`). The names do not change, so that states from form 1 remain valid.
"""

_RECORD_BYTES = 8_192

_BATCH_MESSAGES = 50_000
"""The largest number of messages of the feed in one batch. A batch may complete as many ticks as it has observations,
and a batch that fails repeats all of them.
"""


@dataclass(frozen=True, slots=True)
class NearKind:
    """The operator kind of near queries.

    A track has the records that its queries accept. All of them are in one part of the feed, because any two objects
    may be near each other.
    """

    name: str = OP
    noun: str = "near query"
    definition: type[NearDefinition] = NearDefinition
    body: type[KindBody] = NearBody
    handoff: Literal["feed"] = "feed"
    limits: tuple[str, ...] = ("stream_near_queries", "stream_objects")
    allows_join: bool = False
    allows_compacted_topic: bool = False
    held_noun: str = "observations"
    summed_figures: tuple[str, ...] = ("observations",)
    kept: type[KeptBody] | None = NearKept

    def read(
        self, definition: NearDefinition, analyser: RecordAnalyser, *, patiently: bool = False
    ) -> OperatorExpressions:
        """Return the checked expressions of key, time and position, and the columns that the condition reads."""
        fields = read_fields(definition, analyser)
        if definition.on is None:
            return OperatorExpressions(fields, ())
        condition = near_condition(definition.on, analyser, patiently=patiently)
        carried = tuple((column.name, column.sent) for column in condition.columns)
        reads = tuple(Expression("on", column.text, "value").read(analyser) for column in condition.columns)
        warnings = tuple(f"operator.on: {warning}" for warning in condition.warnings)
        return OperatorExpressions(fields, carried, reads, warnings)

    def excess(self, definition: NearDefinition, limits: LimitsConfig) -> QueryError | None:
        """Return None, because no limit applies to the definition of one query alone."""
        return None

    def daemon_part(self, cluster: KafkaCluster) -> None:
        """Return None, because no part lives as long as the daemon."""

    def destination(
        self, definition: NearDefinition, query: QuerySettings, predicate: Predicate, expressions: OperatorExpressions
    ) -> FeedDestination:
        """Return the destination of a query, as plans store it."""
        key, time_us, position = (own.read[0] for own in expressions.fields)
        carried = expressions.carried or ()
        name = _TRACK_PREFIX + hashed([key.sql, time_us.sql, *position.part_texts, carried])
        track = Track(
            *(name, self.name, key.sql, time_us.sql, position.part_texts, carried), observes_all=False, by_key=False
        )
        window_us, every_us = (round(s * 1_000_000) for s in (definition.window_s, definition.every_s))
        own = NearQuery(
            *(query.id, query.topic, name, track.time_name, query.selections, definition.kinds),
            *(definition.distance_m, window_us, every_us, definition.on, since_of(query.definition)),
        )
        return FeedDestination(track, own.settings(), conditions_of(definition))

    def held_limit(self, limits: LimitsConfig, queries: int) -> int:
        """Return the largest number of observations that one query may hold. The observations of a query are all in one
        part of the feed.
        """
        return max(1, limits.stream_objects // 2 // max(1, queries))

    def record_bytes(self, definition: NearDefinition) -> int:
        """Return the size in bytes that a pair's record may reach. The size includes two long keys, three timestamps,
        and the names of query and sources.
        """
        return _RECORD_BYTES

    def part(self, state: bytes | None) -> PartState[Any]:
        """Return the state of a part of the feed from its bytes. If ``state`` is None, return the state of a part that
        has read no messages.
        """
        from asc.operators.near.ticks import Ticks

        return Ticks() if state is None else Ticks.of_bytes(state)

    def reader(self, stream: StreamContext) -> FeedReader:
        """Return the feed reader that computes pairs from observations."""
        from broker.operators.near.reader import NearReader

        messages_max = min(stream.messages_max, _BATCH_MESSAGES)
        return NearReader(stream.name, stream.sink, messages_max, analyser=stream.analyser, watch=stream.watch)


NEAR = NearKind()
