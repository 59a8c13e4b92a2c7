"""Near queries: the parameters of pairs of objects within a distance, as the settings in a feed represent them."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from asc.operators.feed import Kind, QuerySettings, duration_us, names, text_or_none, whole_between
from asc.operators.registration import UNKNOWN, since_of, with_since

OP = "near"
"""The name of the operator kind of near queries."""

KINDS: tuple[Kind, ...] = ("pair", "near", "apart")
"""The types of output. ``pair``: two objects are near at a tick. ``near``: they are near and were not at the previous
tick. ``apart``: they were near at the previous tick and are not.
"""

TICKS_MAX = 100
"""The most ticks whose window contains the same observation. The number is bounded because each of these ticks compares
the observation again.
"""


@dataclass(frozen=True, slots=True)
class NearQuery:
    """A standing query for the pairs of its objects that are within ``distance_m`` metres of each other.

    At each tick (every multiple of ``every_us``) the query compares the last position of each object in the preceding
    ``window_us``. ``kinds``: the requested outputs. ``condition``: a predicate over the two objects, by the values that
    observations carry; None if there is no condition. ``track``: the name of the expressions of the objects. ``time``:
    the name of the expression of the event time. ``selections``: the names of the selections whose records the query
    accepts. ``since`` distinguishes this registration from an earlier registration of the same id.
    """

    id: str
    topic: str
    track: str
    time: str
    selections: tuple[str, ...]
    kinds: tuple[Kind, ...]
    distance_m: float
    window_us: int
    every_us: int
    condition: str | None = None
    since: int = UNKNOWN

    def settings(self) -> QuerySettings:
        """Return the query as settings for a feed.

        >>> query = NearQuery("close", "asc.close", "t", "e", ("s",), ("pair",), 9.0, 30, 10)
        >>> NearQuery.of(query.settings()) == query
        True
        """
        definition = {
            "distance_m": self.distance_m,
            "window_us": self.window_us,
            "every_us": self.every_us,
            "on": self.condition,
            "events": list(self.kinds),
        }
        own_names = (self.id, self.topic, self.track, self.time, self.selections)
        return QuerySettings(*own_names, with_since(definition, self.since))

    @staticmethod
    def of(settings: QuerySettings) -> NearQuery:
        """Return the query that settings describe. Raise KeyError, TypeError or ValueError if they do not describe a
        near query.
        """
        definition = settings.definition
        every_us = duration_us(definition["every_us"], 1)
        window_us = whole_between(duration_us(definition["window_us"], 1), 1, TICKS_MAX * every_us)
        distance_m, kinds = definition["distance_m"], names(definition["events"])
        if type(distance_m) not in (int, float) or not 0 <= distance_m <= sys.float_info.max:
            raise ValueError(f"{str(distance_m)[:50]} is no distance")
        own_names = (settings.id, settings.topic, settings.track, settings.time, settings.selections)
        condition, since = text_or_none(definition["on"]), since_of(definition)
        return NearQuery(*own_names, kinds, float(distance_m), window_us, every_us, condition, since)
