"""How many event queries a stream may have, and in how many ways they may tell objects apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from asc.errors import AscError
from asc.plan.plan import Plan
from broker.config.config import Config
from broker.errors import QueryError
from broker.operators.events_operator import destinations_in
from broker.queries.candidate import Candidate


def excess_of_events(
    config: Config, candidates: Sequence[Candidate], refused: Collection[int], plans: Mapping[str, Plan]
) -> dict[int, AscError]:
    """The candidates beside those refused that are too many event queries for their stream, or that would tell objects
    apart in one way too many, beside what is in its plan. One that is paused is none.
    """
    found: dict[int, AscError] = {}
    own = [
        (position, one)
        for position, one in enumerate(candidates)
        if position not in refused and one.query.operator is not None and not one.query.paused
    ]
    for stream in {one.query.stream for _, one in own}:
        limits = config.limits
        standing = destinations_in(plans[stream]) if stream in plans else []
        replaced = {one.query.id for _, one in own}
        queries = {one.query.id for one in standing if one.query.id not in replaced}
        tracks = {one.track.name for one in standing if one.query.id not in replaced}
        for position, one in own:
            if one.query.stream != stream:
                continue
            track = one.track.name
            if len(queries) >= limits.stream_event_queries:
                most = f"stream '{stream}' has {limits.stream_event_queries:,} already"
                remedy = f"{most}: remove one, or raise limits.stream_event_queries"
                found[position] = QueryError("query with events", one.query.id, remedy)
            elif len({*tracks, track}) > limits.stream_tracks:
                most = f"stream '{stream}' tells objects apart in {limits.stream_tracks} ways already"
                remedy = f"{most}: use a key, time and position of a query that stands, or raise limits.stream_tracks"
                found[position] = QueryError("operator of query", one.query.id, remedy)
            else:
                queries.add(one.query.id)
                tracks.add(track)
    return found
