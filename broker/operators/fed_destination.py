"""Where the matches of a query with an operator go in a plan, in place of a topic: to its stream's feed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from asc.operators.feed import NEAR_TRACK, EventQuery, NearQuery
from asc.plan.plan import Plan
from broker.matching.matches_text import BEFORE_OPERATOR


@dataclass(frozen=True, slots=True)
class Track:
    """The expressions by which objects are told apart (text), timed (microseconds) and placed (doubles, none where a
    query has no position), as Spark SQL. Queries that have the same ones share a track. ``name``: a hash of them.
    ``carried``: of the track of near queries, what else their conditions read, by name (JSON takes it); its records are
    those that are accepted, all in one partition of the feed.
    """

    key: str
    time_us: str
    position: tuple[str, ...] = ()
    carried: tuple[tuple[str, str], ...] | None = None

    @property
    def name(self) -> str:
        plain: list[Any] = [self.key, self.time_us, *self.position]
        if self.carried is None:
            return _hashed(plain)
        return NEAR_TRACK + _hashed([*plain, self.carried])


def _hashed(plain: Sequence[Any]) -> str:
    return hashlib.blake2b(json.dumps(plain).encode(), digest_size=6).hexdigest()


@dataclass(frozen=True, slots=True)
class FedDestination:
    """Where the matches of a query go in place of a topic, in a plan: the feed, under a track. All that its operator
    needs to know of the query goes with it, so that a plan of whatever version says it all.
    """

    feed_topic: str
    track: Track
    query: EventQuery | NearQuery

    def text(self) -> str:
        """It in the place of a topic's name."""
        track = self.track
        more: list[Any] = [track.key, track.time_us, list(track.position), self.query.plain()]
        if track.carried is not None:
            more.append(track.carried)
        return f"{target_of(self.feed_topic, track.name)}{json.dumps(more, separators=(',', ':'))}"

    @staticmethod
    def of_text(text: str) -> FedDestination:
        """What :meth:`text` says."""
        target, _, more = text.partition(BEFORE_OPERATOR)
        key, time_us, position, query, *others = json.loads(more)
        feed_topic = target.partition("/")[0]
        if not others:
            return FedDestination(feed_topic, Track(key, time_us, tuple(position)), EventQuery.of_plain(query))
        carried = tuple((name, sql) for name, sql in others[0])
        return FedDestination(feed_topic, Track(key, time_us, tuple(position), carried), NearQuery.of_plain(query))


def destinations_in(plan: Plan) -> list[FedDestination]:
    """Those of the queries of a plan whose matches go to the feed."""
    topics = plan.topics.unique().dictionary_decode()
    own = topics.filter(pc.match_substring(topics, BEFORE_OPERATOR))
    return [FedDestination.of_text(text) for text in own.to_pylist()]


def target_of(feed_topic: str, track: str) -> str:
    """What the matches of a track are delivered under: no topic's name, for it has a slash."""
    return f"{feed_topic}/{track}{BEFORE_OPERATOR}"


def is_operated(destination: str) -> bool:
    """Whether a destination is an operator's, and no topic."""
    return BEFORE_OPERATOR in destination
