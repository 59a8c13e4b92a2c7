"""The operator kind ``dbscan``: clusters of the points that a query accepts, window by window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from asc.operators.dbscan.dbscan_query import OP
from asc.operators.feed import QuerySettings
from asc.operators.registration import since_of
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.schema import PLANAR
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.operators.dbscan.body import DbscanBody
from broker.operators.dbscan.definition import StandingDbscan
from broker.operators.dbscan.kept import DbscanKept
from broker.operators.expression import OperatorExpressions, RecordAnalyser
from broker.operators.feed_destination import NO_KEY, FeedDestination, Track, hashed
from broker.operators.kept_body import KeptBody
from broker.operators.kind import StreamContext, read_fields
from broker.operators.kind_body import KindBody

if TYPE_CHECKING:
    from broker.kafka.cluster import KafkaCluster
    from broker.operators.feed_task import PartState
    from broker.operators.stateful_query import FeedReader

_RECORD_BYTES = 4_096
_NUMBER_BYTES, _LABEL_BYTES = 25, 10
"""The largest number of bytes of a number, and of a label, in the sample of a window record, with their commas and
brackets.
"""

_BATCH_MESSAGES = 20_000
"""The largest number of messages of the feed in one batch. A batch may complete many windows, and a batch that fails
repeats all of them.
"""


@dataclass(frozen=True, slots=True)
class DbscanKind:
    """The operator kind of DBSCAN queries.

    A track has the records that its queries accept. All of them are in one part of the feed, because any two points may
    be neighbours.
    """

    name: str = OP
    noun: str = "DBSCAN query"
    definition: type[StandingDbscan] = StandingDbscan
    body: type[KindBody] = DbscanBody
    handoff: Literal["feed"] = "feed"
    limits: tuple[str, ...] = ("stream_dbscan_queries", "stream_dbscan_points")
    allows_join: bool = False
    allows_compacted_topic: bool = False
    held_noun: str = "points"
    summed_figures: tuple[str, ...] = ()
    kept: type[KeptBody] | None = DbscanKept

    def read(
        self, definition: StandingDbscan, analyser: RecordAnalyser, *, patiently: bool = False
    ) -> OperatorExpressions:
        """Return the checked expressions of the time, of the position or attributes, and of the key."""
        position = definition.own.position
        if position is not None and analyser.attributes.crs == PLANAR:
            remedy = "needs degrees, and the stream is planar: name x and y as attributes"
            raise QueryError("operator.position", position, remedy)
        return OperatorExpressions(read_fields(definition, analyser), warnings=definition.own.warnings)

    def excess(self, definition: StandingDbscan, limits: LimitsConfig) -> QueryError | None:
        """Return an error if ``window_points`` exceeds the limit ``stream_dbscan_points``, because every window of the
        query would be skipped. Otherwise return None.
        """
        own, most = definition.own, limits.stream_dbscan_points
        if own.is_timed or own.window <= most:
            return None
        remedy = f"is more than the {most:,} points of a window: shorten it, or raise limits.stream_dbscan_points"
        return QueryError("operator.window_points", round(own.window), remedy)

    def daemon_part(self, cluster: KafkaCluster) -> None:
        """Return None, because no part lives as long as the daemon."""

    def destination(
        self, definition: StandingDbscan, query: QuerySettings, predicate: Predicate, expressions: OperatorExpressions
    ) -> FeedDestination:
        """Return the destination of a query, as plans store it."""
        dbscan = definition.own
        time_us, *values = (field.read[0] for field in expressions.fields)
        key = NO_KEY if dbscan.key is None else values.pop().sql
        position: tuple[str, ...] = tuple(f"CAST(({value.sql}) AS DOUBLE)" for value in values)
        if dbscan.position is not None:
            position = values[0].part_texts
        name = hashed([OP, time_us.sql, key, dbscan.position is not None, *position])
        track = Track(name, OP, key, time_us.sql, position, None, observes_all=False, by_key=False)
        (selection,) = query.selections
        since = since_of(query.definition)
        asked = dbscan.query(query.id, query.topic, track=name, time=track.time_name, selection=selection, since=since)
        return FeedDestination(track, asked.settings())

    def held_limit(self, limits: LimitsConfig, queries: int) -> int:
        """Return the largest number of points of a window. For a track, the state holds the points of at most three
        windows.
        """
        return limits.stream_dbscan_points

    def record_bytes(self, definition: StandingDbscan) -> int:
        """Return the size in bytes that a record of a window may reach with its sample of points. The lists of ids in
        the record are not included.
        """
        own = definition.own
        attributes = len(own.attributes) if own.position is None else 2
        return _RECORD_BYTES + own.sample * (attributes * _NUMBER_BYTES + _LABEL_BYTES)

    def part(self, state: bytes | None) -> PartState[Any]:
        """Return the state of a part of the feed from its bytes. If ``state`` is None, return the state of a part that
        has read no messages.
        """
        from asc.operators.dbscan.clusters import Clusters

        return Clusters() if state is None else Clusters.of_bytes(state)

    def reader(self, stream: StreamContext) -> FeedReader:
        """Return the feed reader that computes clusters from observations."""
        from broker.operators.dbscan.reader import DbscanReader

        return DbscanReader(stream.sink, min(stream.messages_max, _BATCH_MESSAGES))


DBSCAN = DbscanKind()
"""The operator kind ``dbscan``."""
