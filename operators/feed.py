"""The messages of a stream's feed: what its job tells an operator that keeps a state, in the order of one partition.

A message is a JSON object. ``settings`` say which queries stand, ``watermarks`` how far event time has come, and all
others are observations: a record as an operator sees it. What was read is what was written, whatever it was cut into.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BETWEEN_IDS = "\x1f"
"""Between the accepted ids of an observation; an id is that of a query, or ``query/shape``."""

Kind = str
"""What an event is of: one of KINDS."""

KINDS: tuple[Kind, ...] = ("enter", "exit", "lost")


@dataclass(frozen=True, slots=True)
class EventQuery:
    """A standing query that is told events: which ``kinds``, to which topic, after which ``dwell_us``, and after how
    long without an observation, ``lost_after_us``, what is open is closed (microseconds of event time).

    ``track`` names the expressions by which its objects are told apart, timed and placed: queries that have the same
    share one.
    """

    id: str
    topic: str
    track: str
    kinds: tuple[Kind, ...]
    dwell_us: int
    lost_after_us: int

    def plain(self) -> list[Any]:
        """It as JSON has it."""
        return [self.id, self.topic, self.track, list(self.kinds), self.dwell_us, self.lost_after_us]

    @staticmethod
    def of_plain(plain: Sequence[Any]) -> EventQuery:
        """What :meth:`plain` says."""
        query_id, topic, track, kinds, dwell_us, lost_after_us = plain
        return EventQuery(query_id, topic, track, tuple(kinds), dwell_us, lost_after_us)


@dataclass(frozen=True, slots=True)
class Settings:
    """The event queries that stand from here on, the source topic, and how many objects a partition of the feed may
    hold; ``is_planar``: positions are no degrees.
    """

    source_topic: str
    is_planar: bool
    objects_max: int
    queries: tuple[EventQuery, ...]

    def text(self) -> str:
        """It as a message."""
        plain = {
            "source": self.source_topic,
            "planar": self.is_planar,
            "objects_max": self.objects_max,
            "queries": [query.plain() for query in self.queries],
        }
        return json.dumps({"settings": plain}, separators=(",", ":"))

    @staticmethod
    def of_plain(plain: Mapping[str, Any]) -> Settings:
        """What the object of a message says."""
        queries = tuple(map(EventQuery.of_plain, plain["queries"]))
        return Settings(plain["source"], plain["planar"], plain["objects_max"], queries)


@dataclass(frozen=True, slots=True)
class Watermarks:
    """Up to when event time has come, by track: microseconds since 1970."""

    by_track: Mapping[str, int]

    def text(self) -> str:
        """It as a message."""
        return json.dumps({"watermarks": dict(sorted(self.by_track.items()))}, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Observation:
    """A record as the operator sees it, by one track.

    ``time_us``: microseconds since 1970, None where there is none or where ``is_ahead``: further past the record's own
    timestamp than the stream allows. ``position``: two numbers, four of a box, empty where the track has no position;
    a part of it is None where it is none. ``accepted``: the ids of the queries that accept it, each with a shape where
    it has one (``query/shape``).
    """

    track: str
    key: str | None
    time_us: int | None
    position: tuple[float | None, ...]
    partition: int
    offset: int
    accepted: tuple[str, ...] = ()
    is_ahead: bool = False

    def text(self) -> str:
        """It as a message, as the job's Spark writes it."""
        plain = {
            "t": self.track,
            "k": self.key,
            "e": self.time_us,
            "a": self.is_ahead,
            "x": list(self.position),
            "p": self.partition,
            "o": self.offset,
            "q": BETWEEN_IDS.join(self.accepted),
        }
        return json.dumps(plain, separators=(",", ":"))

    @staticmethod
    def of_plain(plain: Mapping[str, Any]) -> Observation:
        """What the object of a message says; what is NULL is not in it."""
        accepted = plain.get("q")
        return Observation(
            plain["t"],
            plain.get("k"),
            plain.get("e"),
            tuple(plain.get("x") or ()),
            plain["p"],
            plain["o"],
            tuple(accepted.split(BETWEEN_IDS)) if accepted else (),
            plain.get("a", False),
        )


Message = Settings | Watermarks | Observation


def parse(text: str | bytes) -> Message:
    """A message from its text; ValueError, KeyError, TypeError where it is none.

    >>> parse(Watermarks({"a": 7}).text())
    Watermarks(by_track={'a': 7})
    """
    plain = json.loads(text)
    if "t" in plain:
        return Observation.of_plain(plain)
    if "settings" in plain:
        return Settings.of_plain(plain["settings"])
    return Watermarks(plain["watermarks"])
