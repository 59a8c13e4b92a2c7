"""Event queries: the parameters of enter, exit and lost events, as the settings in a feed represent them."""

from __future__ import annotations

from dataclasses import dataclass

from asc.operators.feed import OF_SHAPE, Kind, QuerySettings, duration_us, names
from asc.operators.registration import UNKNOWN, since_of, with_since

OP = "events"
"""The name of the operator kind of event queries."""

KINDS: tuple[Kind, ...] = ("enter", "exit", "lost")


@dataclass(frozen=True, slots=True)
class EventQuery:
    """A standing query for enter, exit and lost events of objects.

    ``kinds``: the requested events. ``dwell_us``: the time for which an object must be inside or outside before it has
    entered or left. ``lost_after_us``: the time without an observation after which the object is lost (microseconds of
    event time). ``track``: the name of the expressions of the objects. ``time``: the name of the expression of the
    event time. ``selections``: the names of the selections whose records the query accepts. ``since`` distinguishes
    this registration from an earlier registration of the same id.
    """

    id: str
    topic: str
    track: str
    time: str
    selections: tuple[str, ...]
    kinds: tuple[Kind, ...]
    dwell_us: int
    lost_after_us: int
    since: int = UNKNOWN

    def settings(self) -> QuerySettings:
        """Return the query as settings for a feed.

        >>> query = EventQuery("over", "asc.over", "t", "e", ("s",), ("enter",), 0, 9)
        >>> EventQuery.of(query.settings()) == query
        True
        """
        definition = {"events": list(self.kinds), "dwell_us": self.dwell_us, "lost_after_us": self.lost_after_us}
        own_names = (self.id, self.topic, self.track, self.time, self.selections)
        return QuerySettings(*own_names, with_since(definition, self.since))

    @staticmethod
    def of(settings: QuerySettings) -> EventQuery:
        """Return the query that settings describe. Raise KeyError, TypeError or ValueError if they do not describe an
        event query.
        """
        definition = settings.definition
        if OF_SHAPE in settings.id:
            # The name of a run is this id, OF_SHAPE and the id of the shape, so the id itself must not contain it.
            raise ValueError(f"{settings.id[:50]} is no id")
        own_names = (settings.id, settings.topic, settings.track, settings.time, settings.selections)
        dwell_us, lost_after_us = duration_us(definition["dwell_us"]), duration_us(definition["lost_after_us"], 1)
        return EventQuery(*own_names, names(definition["events"]), dwell_us, lost_after_us, since_of(definition))
