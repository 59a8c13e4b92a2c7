"""Definitions of near queries: the checked parameters of the operator ``near``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from asc.operators.feed import Kind
from asc.operators.near.near_query import KINDS, OP, TICKS_MAX
from asc.spatial.shape import EARTH_RADIUS_M
from broker.errors import QueryError
from broker.operators.expression import Expression
from broker.operators.operator_fields import check_known, expression_of, key_of, kinds_of, number_of, shown

DEFAULT_TIME = "_timestamp"
DEFAULT_POSITION = "ST_Point(longitude, latitude)"

HALF_EARTH_M = 3.15 * EARTH_RADIUS_M
WINDOW_LEAST_S, EVERY_LEAST_S = 0.001, 0.1
LONGEST_S = 86_400

_FIELDS = ("name", "key", "time", "position", "distance_m", "window_s", "every_s", "on", "events")


@dataclass(frozen=True, slots=True)
class NearDefinition:
    """The parameters of a query for pairs of objects within a distance.

    ``key``, ``time`` and ``position`` are expressions over a record: the identity of an object, the record's TIMESTAMP,
    and a point in degrees. At every multiple of ``every_s`` (a tick), each object has its last position, if this
    position is at most ``window_s`` old. Two objects are a pair if they are at most ``distance_m`` metres apart and the
    predicate ``on`` holds over them, ``a`` and ``b``. ``kinds``: ``pair`` at each tick, or the changes from tick to
    tick, ``near`` and ``apart``.

    Invariant: the expressions are not empty. A window has at most a hundred ticks.
    """

    name: ClassVar[str] = OP

    key: str
    distance_m: float
    window_s: float
    every_s: float
    time: str = DEFAULT_TIME
    position: str = DEFAULT_POSITION
    on: str | None = None
    kinds: tuple[Kind, ...] = KINDS[:1]

    def plain(self) -> dict[str, Any]:
        """Return the definition as a JSON object, in the form of the registry and of the API."""
        return {
            "name": OP,
            "key": self.key,
            "time": self.time,
            "position": self.position,
            "distance_m": self.distance_m,
            "window_s": self.window_s,
            "every_s": self.every_s,
            "on": self.on,
            "events": list(self.kinds),
        }

    @classmethod
    def parse(cls, plain: Mapping[str, Any]) -> NearDefinition:
        """Return the definition in a JSON object, which may omit defaults. Raise QueryError if the object is invalid.

        >>> NearDefinition.parse({"name": "near", "key": "k", "distance_m": 100, "window_s": 30, "every_s": 10}).kinds
        ('pair',)
        """
        check_known(plain, _FIELDS)
        kinds = kinds_of(plain.get("events", KINDS[:1]), KINDS)
        if "pair" in kinds and len(kinds) > 1:
            raise QueryError("operator.events", shown(plain["events"]), "give pair alone, or some of near, apart")
        window_s = number_of("window_s", plain.get("window_s"), least=WINDOW_LEAST_S, most=LONGEST_S)
        every_s = number_of("every_s", plain.get("every_s"), least=EVERY_LEAST_S, most=LONGEST_S)
        # Compared in microseconds: as a double, 100 * .57 is less than 57.
        if round(window_s * 1_000_000) > TICKS_MAX * round(every_s * 1_000_000):
            remedy = f"is over {TICKS_MAX} times every_s, which is {every_s}: shorten it, or lengthen every_s"
            raise QueryError("operator.window_s", window_s, remedy)
        on = plain.get("on")
        return NearDefinition(
            key=key_of(OP, plain),
            distance_m=number_of("distance_m", plain.get("distance_m"), least=0, most=HALF_EARTH_M, what="metres"),
            window_s=window_s,
            every_s=every_s,
            time=expression_of("time", plain.get("time", DEFAULT_TIME)),
            position=expression_of("position", plain.get("position", DEFAULT_POSITION)),
            on=None if on is None else expression_of("on", on),
            kinds=kinds,
        )

    def expressions(self) -> tuple[Expression, ...]:
        """Return the expressions of the key, the time and the position, and the condition over two records."""
        own = (
            Expression("key", self.key, "key"),
            Expression("time", self.time, "time"),
            Expression("position", self.position, "position"),
        )
        return own if self.on is None else (*own, Expression("on", self.on, "predicate"))

    def summary(self) -> str:
        """Return the definition in one line.

        >>> NearDefinition("icao24", 9260, 30, 10, kinds=("near", "apart")).summary()
        'near, apart: within 9260 m, every 10 s'
        """
        condition = "" if self.on is None else f", on {self.on}"
        return f"{', '.join(self.kinds)}: within {self.distance_m} m, every {self.every_s} s{condition}"
