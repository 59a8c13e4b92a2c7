"""Definitions of event queries: the checked parameters of the operator ``events``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from asc.operators.events.event_query import KINDS, OP
from asc.operators.feed import Kind
from broker.operators.expression import Expression
from broker.operators.operator_fields import check_known, expression_of, key_of, kinds_of, number_of

DEFAULT_TIME = "_timestamp"
DEFAULT_LOST_AFTER_S = 3_600

LOST_AFTER_LEAST_S = 0.001
LONGEST_S = 2_592_000
"""The largest ``dwell_s`` and ``lost_after_s``: thirty days. So the state of an object that is not observed is held no
longer than thirty days.
"""

_FIELDS = ("name", "events", "key", "time", "dwell_s", "lost_after_s")


@dataclass(frozen=True, slots=True)
class EventsDefinition:
    """The parameters of enter, exit and lost events.

    ``key`` and ``time`` are expressions over a record: the identity of an object, and the TIMESTAMP of the record.
    ``kinds``: the events that the query requests. ``dwell_s``: the time for which an object must be inside or outside
    before it has entered or left. ``lost_after_s``: the time after its last observation at which an object is lost
    (seconds of event time).

    Invariant: ``kinds`` has at least one event, in the order of KINDS. The expressions are not empty. The times are at
    most a month.
    """

    name: ClassVar[str] = OP

    key: str
    time: str = DEFAULT_TIME
    kinds: tuple[Kind, ...] = KINDS
    dwell_s: float = 0
    lost_after_s: float = DEFAULT_LOST_AFTER_S

    def plain(self) -> dict[str, Any]:
        """Return the definition as a JSON object, in the form of the registry and of the API."""
        return {
            "name": OP,
            "events": list(self.kinds),
            "key": self.key,
            "time": self.time,
            "dwell_s": self.dwell_s,
            "lost_after_s": self.lost_after_s,
        }

    @classmethod
    def parse(cls, plain: Mapping[str, Any]) -> EventsDefinition:
        """Return the definition in a JSON object, which may omit defaults. Raise QueryError if the object is invalid.

        >>> EventsDefinition.parse({"name": "events", "key": "icao24", "dwell_s": 30.0}) == EventsDefinition(
        ...     "icao24", "_timestamp", ("enter", "exit", "lost"), dwell_s=30, lost_after_s=3600
        ... )
        True
        """
        check_known(plain, _FIELDS)
        return EventsDefinition(
            key=key_of(OP, plain),
            time=expression_of("time", plain.get("time", DEFAULT_TIME)),
            kinds=kinds_of(plain.get("events", KINDS), KINDS),
            dwell_s=number_of("dwell_s", plain.get("dwell_s", 0), least=0, most=LONGEST_S),
            lost_after_s=number_of(
                "lost_after_s",
                plain.get("lost_after_s", DEFAULT_LOST_AFTER_S),
                least=LOST_AFTER_LEAST_S,
                most=LONGEST_S,
            ),
        )

    def expressions(self) -> tuple[Expression, ...]:
        """Return the expressions of the key and the time."""
        return (Expression("key", self.key, "key"), Expression("time", self.time, "time"))

    def summary(self) -> str:
        """Return the definition in one line.

        >>> EventsDefinition("icao24", dwell_s=30).summary()
        'enter, exit, lost of icao24, dwell 30 s, lost after 3600 s'
        """
        dwell = f", dwell {self.dwell_s} s" if self.dwell_s else ""
        return f"{', '.join(self.kinds)} of {self.key}{dwell}, lost after {self.lost_after_s} s"
