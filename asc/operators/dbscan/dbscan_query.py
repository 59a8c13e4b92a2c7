"""DBSCAN queries: their parameters, as the settings in a feed represent them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from asc.operators.dbscan.schedule import Schedule
from asc.operators.dbscan.sphere import chord
from asc.operators.feed import QuerySettings, whole
from asc.operators.registration import UNKNOWN, since_of, with_since

OP = "dbscan"
"""The name of the operator kind of DBSCAN queries."""

KINDS = ("cluster", "member", "window")
"""The types of output: a cluster of a window, a point of the window, and the window itself."""

Members = Literal["none", "changes", "all"]
MEMBERS: tuple[Members, ...] = get_args(Members)
"""The values of ``members``. ``none``: no points are output. ``changes``: points whose cluster changed are output.
``all``: every point that is not noise is output.
"""

ATTRIBUTES_MAX = 8
"""The most attributes of a point."""


@dataclass(frozen=True, slots=True)
class DbscanQuery:
    """A standing query for the clusters of its windows.

    ``attributes``: the number of attributes of a point. With ``is_position`` these are longitude and latitude, and
    ``eps`` is in metres. With ``is_timed``, ``window`` and ``slide`` are microseconds of event time, otherwise numbers
    of points. ``sample``: the most points that a window record shows. ``lateness_us``: the allowed lateness of the
    points; None for the lateness of the stream, which the feed's settings have. ``track``: the name of the expressions
    of the points. ``time``: the name of the expression of the event time. ``selections``: the names of the selections
    whose records the query accepts. ``since`` distinguishes this registration from an earlier registration of the same
    id, which was removed or paused; -1 if an earlier version wrote the query.
    """

    id: str
    topic: str
    track: str
    time: str
    selections: tuple[str, ...]
    attributes: int
    is_position: bool
    eps: float
    min_samples: int
    is_timed: bool
    window: int
    slide: int
    members: Members = "none"
    sample: int = 200
    lateness_us: int | None = None
    since: int = UNKNOWN

    @property
    def schedule(self) -> Schedule:
        """Return the schedule of the query's windows."""
        return Schedule(self.window, self.slide)

    @property
    def radius(self) -> float:
        """Return ``eps`` in the space of the query's points."""
        return chord(self.eps) if self.is_position else self.eps

    def continues(self, other: DbscanQuery) -> bool:
        """Return whether the query has the same points and windows as another query that it replaces."""
        return (*self._windows, self.attributes, self.since) == (*other._windows, other.attributes, other.since)

    def is_same(self, other: DbscanQuery) -> bool:
        """Return whether the query equals another query. The lateness is not compared, because the stream sets it."""
        return replace(self, lateness_us=other.lateness_us) == other

    @property
    def _windows(self) -> tuple[object, ...]:
        return self.track, self.time, self.selections, self.is_timed, self.window, self.slide

    def settings(self) -> QuerySettings:
        """Return the query as settings for a feed.

        >>> query = DbscanQuery("crowds", "asc.crowds", "t", "e", ("s",), 2, False, 0.05, 5, True, 600, 60)
        >>> DbscanQuery.of(query.settings()) == query
        True
        """
        unit = "us" if self.is_timed else "points"
        definition: dict[str, Any] = {
            "attributes": self.attributes,
            "position": self.is_position,
            "eps": self.eps,
            "min_samples": self.min_samples,
            f"window_{unit}": self.window,
            f"slide_{unit}": self.slide,
            "members": self.members,
            "sample": self.sample,
        }
        if self.lateness_us is not None:
            definition["lateness_us"] = self.lateness_us
        named = (self.id, self.topic, self.track, self.time, self.selections)
        return QuerySettings(*named, with_since(definition, self.since))

    @staticmethod
    def of(settings: QuerySettings) -> DbscanQuery:
        """Return the query that settings describe. Raise KeyError, TypeError or ValueError if they do not describe a
        DBSCAN query.
        """
        definition = settings.definition
        is_timed = "window_us" in definition
        unit = "us" if is_timed else "points"
        window, slide = whole(definition[f"window_{unit}"]), whole(definition[f"slide_{unit}"])
        if not 1 <= slide <= window:
            raise ValueError(f"{slide} is no slide of a window of {window}")
        attributes, is_position, eps, members = (
            definition["attributes"],
            definition["position"],
            definition["eps"],
            definition["members"],
        )
        if type(is_position) is not bool or whole(attributes) not in ((2,) if is_position else _NUMBERS_OF_ATTRIBUTES):
            raise ValueError(f"{attributes} is no number of attributes")
        if type(eps) not in (int, float) or members not in MEMBERS:
            raise ValueError(f"{str(eps)[:50]} is no eps, or {str(members)[:50]} are no members")
        min_samples, sample = (whole(definition[name]) for name in ("min_samples", "sample"))
        lateness_us = None if definition.get("lateness_us") is None else whole(definition["lateness_us"])
        since = since_of(definition)
        if min_samples < 1 or sample < 0 or (lateness_us is not None and lateness_us < 0):
            raise ValueError("min_samples is below 1, or sample or lateness below 0")
        named = (settings.id, settings.topic, settings.track, settings.time, settings.selections)
        windows = (is_timed, window, slide)
        numbers = (attributes, is_position, float(eps), min_samples)
        query = DbscanQuery(*named, *numbers, *windows, members, sample, lateness_us, since)
        if not has_area(query.radius):
            raise ValueError(f"{eps} is no eps")
        return query


_NUMBERS_OF_ATTRIBUTES = range(1, ATTRIBUTES_MAX + 1)


def has_area(radius: float) -> bool:
    """Return whether a radius and its square are positive and finite.

    >>> has_area(0.5), has_area(1e-170), has_area(1e170), has_area(float("nan")), has_area(-1.0)
    (True, False, False, False, False)
    """
    return radius > 0 and 0 < radius * radius < math.inf
