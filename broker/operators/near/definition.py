"""The operator ``near`` of a query: which two of the objects that it accepts are told, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asc.keys.attribute import PAttribute
from asc.operators.feed import NEAR_KINDS, Kind, NearQuery
from asc.spatial.shape import EARTH_RADIUS_M
from broker.errors import QueryError
from broker.operators.fed_destination import FedDestination, Track
from broker.operators.near.condition import CarriedColumn
from broker.operators.operator_fields import check_known, expression_of, key_of, kinds_of, number_of, shown

NAME = "near"
DEFAULT_TIME = "_timestamp"
DEFAULT_POSITION = "ST_Point(longitude, latitude)"

_HALF_EARTH_M = 3.15 * EARTH_RADIUS_M
_LONGEST_S = 86_400
_TICKS_MAX = 100
"""In how many ticks one observation may be: each looks at it anew."""

_FIELDS = ("name", "key", "time", "position", "distance_m", "window_s", "every_s", "on", "events")


@dataclass(frozen=True, slots=True)
class NearOperator:
    """That a query is told which two of the objects that it accepts are near.

    ``key`` tells objects apart, at ``time`` (a TIMESTAMP) they are at ``position`` (a point of degrees): expressions
    over the record. At every multiple of ``every_s`` the last positions within ``window_s`` are compared: those at most
    ``distance_m`` metres apart, of which the predicate ``on`` holds, over ``a`` and ``b``. ``kinds``: ``pair`` at each
    tick, or ``near`` and ``apart``, the changes from tick to tick.

    Invariant: expressions are not empty; a window is of at most a hundred ticks.
    """

    key: str
    distance_m: float
    window_s: float
    every_s: float
    time: str = DEFAULT_TIME
    position: str = DEFAULT_POSITION
    on: str | None = None
    kinds: tuple[Kind, ...] = NEAR_KINDS[:1]

    def plain(self) -> dict[str, Any]:
        """It as records and the API have it."""
        return {
            "name": NAME,
            "key": self.key,
            "time": self.time,
            "position": self.position,
            "distance_m": self.distance_m,
            "window_s": self.window_s,
            "every_s": self.every_s,
            "on": self.on,
            "events": list(self.kinds),
        }

    @staticmethod
    def of_plain(plain: Mapping[str, Any]) -> NearOperator:
        """What :meth:`plain` says, defaults left out or not; QueryError where it says something else.

        >>> NearOperator.of_plain({"name": "near", "key": "k", "distance_m": 100, "window_s": 30, "every_s": 10}).kinds
        ('pair',)
        """
        check_known(plain, _FIELDS)
        kinds = kinds_of(plain.get("events", NEAR_KINDS[:1]), NEAR_KINDS)
        if "pair" in kinds and len(kinds) > 1:
            raise QueryError("operator.events", shown(plain["events"]), "give pair alone, or some of near, apart")
        window_s = number_of("window_s", plain.get("window_s"), least=0.001, most=_LONGEST_S)
        every_s = number_of("every_s", plain.get("every_s"), least=0.1, most=_LONGEST_S)
        # In microseconds, for a hundred times .57 is less than 57 in doubles.
        if round(window_s * 1_000_000) > _TICKS_MAX * round(every_s * 1_000_000):
            raise QueryError("operator.window_s", window_s, f"is over {_TICKS_MAX} times every_s, which is {every_s}")
        on = plain.get("on")
        return NearOperator(
            key=key_of(NAME, plain),
            distance_m=number_of("distance_m", plain.get("distance_m"), least=0, most=_HALF_EARTH_M, what="metres"),
            window_s=window_s,
            every_s=every_s,
            time=expression_of("time", plain.get("time", DEFAULT_TIME)),
            position=expression_of("position", plain.get("position", DEFAULT_POSITION)),
            on=None if on is None else expression_of("on", on),
            kinds=kinds,
        )

    def expressions(self) -> Mapping[str, tuple[str, str]]:
        """What it reads of a record, by field: as it was given, and as Spark computes it; a position as a predicate of
        it, and without what its condition reads.
        """
        at = f"ST_DistanceSphere(ST_Point(0, 0), {self.position}) <= 1"
        return {
            "key": (self.key, f"CAST(({self.key}) AS STRING)"),
            "time": (self.time, f"unix_micros({self.time})"),
            "position": (self.position, at),
        }

    def destination(
        self,
        feed_topic: str,
        query_id: str,
        topic: str,
        *,
        own: Sequence[PAttribute],
        carried: Sequence[CarriedColumn] = (),
    ) -> FedDestination:
        """Where the matches of its query go; ``own``: its expressions, in their order; what its condition reads."""
        key, time_us, position = own
        sent = tuple((column.name, column.sent) for column in carried)
        track = Track(key.sql, time_us.sql, position.part_texts, sent)
        window_us, every_us = (round(seconds * 1_000_000) for seconds in (self.window_s, self.every_s))
        query = NearQuery(query_id, topic, track.name, self.kinds, self.distance_m, window_us, every_us, self.on)
        return FedDestination(feed_topic, track, query)
