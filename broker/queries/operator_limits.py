"""The limits of a stream's operators: on one query, on the queries of each kind, and on tracks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from asc.errors import AscError
from asc.plan.destination import NO_TARGET, Destination
from asc.plan.plan import Plan
from broker.config.config import Config
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.operators.definition import Definition
from broker.operators.feed_destination import FeedDestination
from broker.operators.fold_destination import FoldDestination
from broker.operators.kinds import OPERATORS, kind_of
from broker.queries.validated_query import ValidatedQuery


@dataclass(frozen=True, slots=True)
class StandingOperators:
    """The standing queries with an operator, as the limits of streams count them during a change.

    ``plans``: the running plans by stream, which have the served queries. ``waiting``: by query id, the stream and the
    destination of a query that no plan serves. ``removed``: the ids of the queries that the change removes.
    ``unchanged``: the indexes of the candidates (validated queries of the change) that equal a served query, so that
    the change does not affect this query.
    """

    plans: Mapping[str, Plan] = field(default_factory=dict)
    waiting: Mapping[str, tuple[str, Destination]] = field(default_factory=dict)
    removed: Collection[str] = ()
    unchanged: Collection[int] = ()

    def used(self, stream: str, gone: Collection[str]) -> _Used:
        """Return the used capacity of a stream. The queries whose ids are in ``gone`` or in ``removed`` are not
        counted.
        """
        plan = self.plans.get(stream)
        # Only the names in the table are read: reading many definitions would take longer than all else under the lock.
        served = () if plan is None else plan.destinations.used()
        waiting = (own for place, own in self.waiting.values() if place == stream)
        used = _Used(defaultdict(set), set())
        for each in (*served, *waiting):
            if each.name not in gone and each.name not in self.removed:
                used.add(each.op, each.name, each.target)
        return used


def excess_of_operators(
    config: Config, candidates: Sequence[ValidatedQuery], refused: Collection[int], standing: StandingOperators
) -> dict[int, AscError]:
    """Return the errors, by index, of the candidates (validated queries to be registered) that exceed a limit of their
    stream.

    Candidates in ``refused`` are ignored. A candidate can exceed a limit on its own definition, on the queries of its
    kind, or on tracks. Standing queries are counted, except those that the change removes or replaces. A paused
    candidate is not counted.
    """
    accepted = [
        (position, one.query)
        for position, one in enumerate(candidates)
        if position not in refused and position not in standing.unchanged
    ]
    errors: dict[int, AscError] = {}
    counted: list[int] = []
    for position, query in accepted:
        if query.operator is None or query.paused:
            continue
        error = kind_of(query.operator).excess(query.operator, config.limits)
        if error is None:
            counted.append(position)
        else:
            errors[position] = error
    gone = {query.id for position, query in accepted if position not in errors} if counted else set()
    for stream in {candidates[position].query.stream for position in counted}:
        used = standing.used(stream, gone)
        current = standing.used(stream, ()).ids
        # A replacement has the place of its query, so a new query that comes before it must not take the place.
        for position in sorted(counted, key=lambda each: candidates[each].query.id not in current):
            own = candidates[position].destination if candidates[position].query.stream == stream else None
            error = None if own is None else used.excess(config.limits, stream, own)
            if error is not None:
                errors[position] = error
    return errors


def check_alone(limits: LimitsConfig, definitions: Sequence[Definition]) -> None:
    """Raise QueryError if new queries of one kind would exceed a limit even in a stream without other queries."""
    for definition in definitions:
        error = kind_of(definition).excess(definition, limits)
        if error is not None:
            raise error
    limit = kind_of(definitions[0]).limits[0] if definitions else ""
    if definitions and len(definitions) > getattr(limits, limit):
        remedy = f"are more than a stream may have, {getattr(limits, limit):,}: ask for fewer, or raise limits.{limit}"
        raise QueryError("queries of one operator", len(definitions), remedy)


@dataclass(frozen=True, slots=True)
class _Used:
    """The used capacity of a stream: the ids of its queries by kind, and the names of its tracks in the feed."""

    queries: defaultdict[str, set[str]]
    tracks: set[str]

    @property
    def ids(self) -> frozenset[str]:
        """Return the ids of all queries."""
        return frozenset(query_id for ids in self.queries.values() for query_id in ids)

    def add(self, op: str, query_id: str, track: str) -> None:
        """Count a query. ``track`` is NO_TARGET if the query has no track."""
        self.queries[op].add(query_id)
        if track != NO_TARGET:
            self.tracks.add(track)

    def excess(
        self, limits: LimitsConfig, stream: str, destination: FeedDestination | FoldDestination
    ) -> QueryError | None:
        """Return the error if one more query, with the given destination, exceeds a limit. Otherwise count the query as
        used capacity, and return None.
        """
        op, track = destination.op, destination.in_plan().target
        kind = OPERATORS[op]
        limit = kind.limits[0]
        most: int = getattr(limits, limit)
        if len(self.queries[op]) >= most:
            remedy = f"stream '{stream}' has {most:,} already: remove one, or raise limits.{limit}"
            return QueryError(kind.noun, destination.id, remedy)
        if track != NO_TARGET and len({*self.tracks, track}) > limits.stream_tracks:
            full = f"stream '{stream}' has {limits.stream_tracks} tracks already"
            remedy = f"{full}: read what another query of its kind reads, or raise limits.stream_tracks"
            return QueryError("operator of query", destination.id, remedy)
        self.add(op, destination.id, track)
        return None
