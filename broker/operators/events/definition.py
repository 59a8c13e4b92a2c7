"""The operator ``events`` of a query: what is asked of it, and where its matches go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asc.keys.attribute import PAttribute
from asc.operators.feed import KINDS, EventQuery, Kind
from asc.predicate.normal_form import Predicate
from broker.operators.fed_destination import FedDestination, Track
from broker.operators.operator_fields import check_known, expression_of, key_of, kinds_of, number_of

NAME = "events"
DEFAULT_TIME = "_timestamp"
DEFAULT_LOST_AFTER_S = 3_600

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
        check_known(plain, _FIELDS)
        return EventsOperator(
            key=key_of(NAME, plain),
            time=expression_of("time", plain.get("time", DEFAULT_TIME)),
            kinds=kinds_of(plain.get("events", KINDS), KINDS),
            dwell_s=number_of("dwell_s", plain.get("dwell_s", 0), least=0, most=_LONGEST_S),
            lost_after_s=number_of(
                "lost_after_s", plain.get("lost_after_s", DEFAULT_LOST_AFTER_S), least=0.001, most=_LONGEST_S
            ),
        )

    def expressions(self) -> Mapping[str, tuple[str, str]]:
        """What it reads of a record, by field: as it was given, and as Spark computes it."""
        return {
            "key": (self.key, f"CAST(({self.key}) AS STRING)"),
            "time": (self.time, f"unix_micros({self.time})"),
        }

    def destination(
        self, feed_topic: str, query_id: str, topic: str, *, own: Sequence[PAttribute], predicate: Predicate
    ) -> FedDestination:
        """Where the matches of its query go; ``own``: its expressions, in their order. Its position is the first that
        the predicate reads.
        """
        key, time_us = own
        positions = [attribute for attribute in predicate.read if attribute.parts]
        track = Track(key.sql, time_us.sql, positions[0].part_texts if positions else ())
        dwell_us, lost_after_us = (round(seconds * 1_000_000) for seconds in (self.dwell_s, self.lost_after_s))
        return FedDestination(
            feed_topic, track, EventQuery(query_id, topic, track.name, self.kinds, dwell_us, lost_after_us)
        )
