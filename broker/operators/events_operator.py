"""The operator ``events`` of a query: what is asked of it, and the destination that its matches have in a plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from asc.keys.attribute import PAttribute
from asc.plan.plan import Plan
from broker.errors import QueryError
from broker.matching.matches_text import BEFORE_OPERATOR
from operators.feed import KINDS, EventQuery, Kind

NAME = "events"
DEFAULT_TIME = "_timestamp"
DEFAULT_LOST_AFTER_S = 3_600

_EXPRESSION_CHARS_MAX = 10_000
_LONGEST_S = 2_592_000
"""Thirty days: for so long an object may be held that is not seen."""

_FIELDS = ("name", "events", "key", "time", "dwell_s", "lost_after_s")


@dataclass(frozen=True, slots=True)
class EventsOperator:
    """That a query is told events, of objects that ``key`` tells apart, at ``time`` (a TIMESTAMP), both expressions
    over the record: which ``kinds``, once an object was inside or outside for ``dwell_s``, and lost ``lost_after_s``
    after its last observation (seconds of event time).

    Invariant: kinds are in the order of KINDS, one at least; the expressions are not empty; the times within a month.
    """

    key: str
    time: str = DEFAULT_TIME
    kinds: tuple[Kind, ...] = KINDS
    dwell_s: float = 0
    lost_after_s: float = DEFAULT_LOST_AFTER_S

    def plain(self) -> dict[str, Any]:
        """It as records and the API have it."""
        return {
            "name": NAME,
            "events": list(self.kinds),
            "key": self.key,
            "time": self.time,
            "dwell_s": self.dwell_s,
            "lost_after_s": self.lost_after_s,
        }

    @staticmethod
    def of_plain(plain: Mapping[str, Any]) -> EventsOperator:
        """What :meth:`plain` says, defaults left out or not; QueryError where it says something else.

        >>> EventsOperator.of_plain({"name": "events", "key": "icao24", "dwell_s": 30.0})
        EventsOperator(key='icao24', time='_timestamp', kinds=('enter', 'exit', 'lost'), dwell_s=30, lost_after_s=3600)
        """
        for name in plain:
            if name not in _FIELDS:
                raise QueryError("field operator", name, f"is not known: known are {', '.join(_FIELDS)}")
        if plain.get("name") != NAME:
            raise QueryError("operator", _shown(plain.get("name")), f"is not known: known is {NAME}")
        key, time = plain.get("key"), plain.get("time", DEFAULT_TIME)
        if key is None:
            raise QueryError("operator", NAME, "has no key: name what tells objects apart")
        for name, text in (("key", key), ("time", time)):
            if not isinstance(text, str) or not text.strip() or len(text) > _EXPRESSION_CHARS_MAX:
                remedy = f"give an expression over the record, of at most {_EXPRESSION_CHARS_MAX:,} characters"
                raise QueryError(f"operator.{name}", _shown(text), remedy)
        return EventsOperator(
            key=str(key),
            time=str(time),
            kinds=_kinds(plain.get("events", KINDS)),
            dwell_s=_seconds("dwell_s", plain.get("dwell_s", 0), least=0),
            lost_after_s=_seconds("lost_after_s", plain.get("lost_after_s", DEFAULT_LOST_AFTER_S), least=0.001),
        )


@dataclass(frozen=True, slots=True)
class Track:
    """The expressions by which objects are told apart (text), timed (microseconds) and placed (doubles, none where a
    query has no position), as Spark SQL. Queries that have the same ones share a track. ``name``: a hash of them.
    """

    key: str
    time_us: str
    position: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        text = json.dumps([self.key, self.time_us, *self.position])
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def track_of(key: PAttribute, time_us: PAttribute, read: Iterable[PAttribute]) -> Track:
    """The track of a query: its position is the first that its predicate reads."""
    positions = [attribute for attribute in read if attribute.parts]
    return Track(key.sql, time_us.sql, positions[0].part_texts if positions else ())


@dataclass(frozen=True, slots=True)
class EventsDestination:
    """Where the matches of an event query go in place of a topic, in a plan: the feed, under a track. All that events
    need to know of the query goes with it, so that a plan of whatever version says it all.
    """

    feed_topic: str
    track: Track
    query: EventQuery

    @staticmethod
    def of(feed_topic: str, query_id: str, topic: str, asked: EventsOperator, track: Track) -> EventsDestination:
        """That of a query."""
        dwell_us, lost_after_us = (round(seconds * 1_000_000) for seconds in (asked.dwell_s, asked.lost_after_s))
        query = EventQuery(query_id, topic, track.name, asked.kinds, dwell_us, lost_after_us)
        return EventsDestination(feed_topic, track, query)

    def text(self) -> str:
        """It in the place of a topic's name."""
        more = [self.track.key, self.track.time_us, list(self.track.position), self.query.plain()]
        return f"{target_of(self.feed_topic, self.track.name)}{json.dumps(more, separators=(',', ':'))}"

    @staticmethod
    def of_text(text: str) -> EventsDestination:
        """What :meth:`text` says."""
        target, _, more = text.partition(BEFORE_OPERATOR)
        key, time_us, position, query = json.loads(more)
        feed_topic = target.partition("/")[0]
        return EventsDestination(feed_topic, Track(key, time_us, tuple(position)), EventQuery.of_plain(query))


def destinations_in(plan: Plan) -> list[EventsDestination]:
    """Those of the event queries of a plan."""
    topics = plan.topics.unique().dictionary_decode()
    own = topics.filter(pc.match_substring(topics, BEFORE_OPERATOR))
    return [EventsDestination.of_text(text) for text in own.to_pylist()]


def target_of(feed_topic: str, track: str) -> str:
    """What the matches of a track are delivered under: no topic's name, for it has a slash."""
    return f"{feed_topic}/{track}{BEFORE_OPERATOR}"


def is_operated(destination: str) -> bool:
    """Whether a destination is an operator's, and no topic."""
    return BEFORE_OPERATOR in destination


def _kinds(given: object) -> tuple[Kind, ...]:
    remedy = f"give a list of some of {', '.join(KINDS)}"
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise QueryError("operator.events", _shown(given), remedy)
    for each in given:
        if each not in KINDS:
            raise QueryError("operator.events", _shown(each), remedy)
    return tuple(kind for kind in KINDS if kind in given)


def _seconds(name: str, given: object, *, least: float) -> float:
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not is_number or not least <= given <= _LONGEST_S:  # type: ignore[operator]
        raise QueryError(f"operator.{name}", _shown(given), f"give seconds, from {least} to {_LONGEST_S:,}")
    seconds = round(float(given), 6)  # type: ignore[arg-type]
    return int(seconds) if seconds.is_integer() else seconds


def _shown(value: object) -> str:
    return str(value).encode("utf-8", "replace").decode()[:200]
