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


NEAR_KINDS: tuple[Kind, ...] = ("pair", "near", "apart")
"""What is told of two objects: that they are near, at each tick; that they are and were not; that they were and are
not.
"""

NEAR_TRACK = "n"
"""What the names of tracks begin with whose observations are for near queries; those of others are hexadecimal."""


@dataclass(frozen=True, slots=True)
class NearQuery:
    """A standing query that is told which two of its objects are within ``distance_m`` metres of each other at each
    tick, every multiple of ``every_us``, by the last position of each in the ``window_us`` before: which ``kinds``, to
    which topic. ``condition``: a predicate over the two, by the values that observations carry; None for none.
    """

    id: str
    topic: str
    track: str
    kinds: tuple[Kind, ...]
    distance_m: float
    window_us: int
    every_us: int
    condition: str | None = None

    def plain(self) -> list[Any]:
        """It as JSON has it."""
        times = [self.window_us, self.every_us]
        return [self.id, self.topic, self.track, list(self.kinds), self.distance_m, *times, self.condition]

    @staticmethod
    def of_plain(plain: Sequence[Any]) -> NearQuery:
        """What :meth:`plain` says."""
        query_id, topic, track, kinds, distance_m, window_us, every_us, condition = plain
        return NearQuery(query_id, topic, track, tuple(kinds), distance_m, window_us, every_us, condition)


@dataclass(frozen=True, slots=True)
class Settings:
    """The event queries and near queries that stand from here on, the source topic, how many objects a partition of the
    feed may hold for events, and how many observations a near query; ``is_planar``: positions are no degrees.
    """

    source_topic: str
    is_planar: bool
    objects_max: int
    queries: tuple[EventQuery, ...]
    near: tuple[NearQuery, ...] = ()
    near_objects_max: int = 0

    def text(self) -> str:
        """It as a message."""
        plain = {
            "source": self.source_topic,
            "planar": self.is_planar,
            "objects_max": self.objects_max,
            "queries": [query.plain() for query in self.queries],
            "near": [query.plain() for query in self.near],
            "near_objects_max": self.near_objects_max,
        }
        return json.dumps({"settings": plain}, ensure_ascii=False, separators=(",", ":"))

    @staticmethod
    def of_plain(plain: Mapping[str, Any]) -> Settings:
        """What the object of a message says."""
        queries = tuple(map(EventQuery.of_plain, plain["queries"]))
        near = tuple(map(NearQuery.of_plain, plain.get("near", ())))
        most = plain["objects_max"], plain.get("near_objects_max", 0)
        return Settings(plain["source"], plain["planar"], most[0], queries, near, most[1])


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
    it has one (``query/shape``). ``carried``: the values that conditions of near queries read, as the text of a JSON
    object; None where the track has none.
    """

    track: str
    key: str | None
    time_us: int | None
    position: tuple[float | None, ...]
    partition: int
    offset: int
    accepted: tuple[str, ...] = ()
    is_ahead: bool = False
    carried: str | None = None

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
            **({} if self.carried is None else {"v": self.carried}),
        }
        return json.dumps(plain, separators=(",", ":"))

    @staticmethod
    def of_plain(plain: Mapping[str, Any]) -> Observation:
        """What the object of a message says; what is NULL is not in it. ValueError, TypeError where it has what no
        record has: whoever reads a feed fails of nothing that is in it.
        """
        accepted = plain.get("q")
        return Observation(
            _text(plain["t"]) or "",
            _text(plain.get("k")),
            None if plain.get("e") is None else _whole(plain["e"]),
            tuple(plain.get("x") or ()),
            _whole(plain["p"], 31),
            _whole(plain["o"]),
            tuple(accepted.split(BETWEEN_IDS)) if accepted else (),
            plain.get("a", False),
            _text(plain.get("v")),
        )


Message = Settings | Watermarks | Observation


def parse(text: str | bytes) -> Message:
    """A message from its text; ValueError, KeyError, TypeError, AttributeError where it is none.

    >>> parse(Watermarks({"a": 7}).text())
    Watermarks(by_track={'a': 7})
    """
    plain = json.loads(text)
    if "t" in plain:
        return Observation.of_plain(plain)
    if "settings" in plain:
        return Settings.of_plain(plain["settings"])
    # A time less the lateness may be before the first that 64 bits say.
    return Watermarks({track: _whole(time_us, 64) for track, time_us in plain["watermarks"].items()})


def _text(given: Any) -> str | None:
    """A text that UTF-8 can say, or none; ValueError, AttributeError where it is something else."""
    if given is not None and not given.isascii():
        given.encode()
    return given  # type: ignore[no-any-return]


def _whole(given: Any, bits: int = 63) -> int:
    """A whole number of so many bits beside its sign; ValueError, TypeError where it is something else."""
    if type(given) is not int or not -(1 << bits) <= given < 1 << bits:
        raise ValueError(f"{str(given)[:50]} is no whole number of {bits} bits")
    return given
