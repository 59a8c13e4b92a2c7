"""How many queries with an operator a stream may have, and in how many ways they may tell objects apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from asc.errors import AscError
from asc.operators.feed import NearQuery
from asc.plan.plan import Plan
from broker.config.config import Config
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.operators.fed_destination import FedDestination, destinations_in
from broker.queries.candidate import Candidate


def excess_of_operators(
    config: Config, candidates: Sequence[Candidate], refused: Collection[int], plans: Mapping[str, Plan]
) -> dict[int, AscError]:
    """The candidates beside those refused that are too many event queries or near queries for their stream, or that
    would tell objects apart in one way too many, beside what is in its plan. One that is paused is none.
    """
    found: dict[int, AscError] = {}
    own = [
        (position, one)
        for position, one in enumerate(candidates)
        if position not in refused and one.query.operator is not None and not one.query.paused
    ]
    for stream in {one.query.stream for _, one in own}:
        replaced = {one.query.id for _, one in own}
        standing = destinations_in(plans[stream]) if stream in plans else []
        stands = _Standing.of([one for one in standing if one.query.id not in replaced])
        for position, one in own:
            operator = one.query.operator
            if one.query.stream != stream or operator is None:
                continue
            error = stands.excess(config.limits, stream, one.destination("", operator))
            if error is not None:
                found[position] = error
    return found


@dataclass(frozen=True, slots=True)
class _Standing:
    """Of a stream, the ids of queries with events, those of near queries, and the names of tracks."""

    events: set[str]
    near: set[str]
    tracks: set[str]

    @staticmethod
    def of(standing: Sequence[FedDestination]) -> _Standing:
        near = {one.query.id for one in standing if isinstance(one.query, NearQuery)}
        return _Standing({one.query.id for one in standing} - near, near, {one.track.name for one in standing})

    def excess(self, limits: LimitsConfig, stream: str, one: FedDestination) -> QueryError | None:
        """Why one more is too many; where it is not, it stands."""
        is_near = isinstance(one.query, NearQuery)
        own, most, name, what = (
            (self.near, limits.stream_near_queries, "stream_near_queries", "near query")
            if is_near
            else (self.events, limits.stream_event_queries, "stream_event_queries", "query with events")
        )
        if len(own) >= most:
            remedy = f"stream '{stream}' has {most:,} already: remove one, or raise limits.{name}"
            return QueryError(what, one.query.id, remedy)
        if len({*self.tracks, one.track.name}) > limits.stream_tracks:
            told = f"stream '{stream}' tells objects apart in {limits.stream_tracks} ways already"
            remedy = f"{told}: use a key, time and position of a query that stands, or raise limits.stream_tracks"
            return QueryError("operator of query", one.query.id, remedy)
        own.add(one.query.id)
        self.tracks.add(one.track.name)
        return None
