"""DBSCAN queries: their parameters, as the settings in a feed represent them."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from asc.operators.dbscan.schedule import Schedule
from asc.operators.dbscan.sphere import HALF_EARTH_M, chord
from asc.operators.feed import QuerySettings, duration_us, whole_between
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

SLIDES_MAX = 1_000
"""The most slides in the length of a window. This is also the largest number of windows that contain one point."""

SAMPLE_MAX = 1_000
"""The most points that a window record shows."""


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
        """Return ``eps`` in the space in which the query's points are compared: for positions, the distance of unit
        vectors.
        """
        return chord(self.eps) if self.is_position else self.eps

    def continues(self, other: DbscanQuery) -> bool:
        """Return whether the query has the same registration, points and windows as another query that it replaces, so
        that it can continue the other's windows.
        """
        return (*self._windows, self.attributes, self.since) == (*other._windows, other.attributes, other.since)

    def is_same(self, other: DbscanQuery) -> bool:
        """Return whether the query equals another query, apart from the lateness, which the stream sets."""
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
        is_position, eps, members = (definition[name] for name in ("position", "eps", "members"))
        if type(is_position) is not bool or members not in MEMBERS:
            raise ValueError(f"{str(is_position)[:50]} is no flag, or {str(members)[:50]} are no members")
        attributes = whole_between(definition["attributes"], *((2, 2) if is_position else (1, ATTRIBUTES_MAX)))
        # Checked before the conversion to double, because a whole number may exceed all doubles.
        if type(eps) not in (int, float) or not 0 < eps <= (HALF_EARTH_M if is_position else sys.float_info.max):
            raise ValueError(f"{str(eps)[:50]} is no eps")
        min_samples, sample = whole_between(definition["min_samples"], 1), definition["sample"]
        lateness_us = definition.get("lateness_us")
        is_timed, window, slide = _windows(definition)
        named = (settings.id, settings.topic, settings.track, settings.time, settings.selections)
        numbers = (attributes, is_position, float(eps), min_samples)
        query = DbscanQuery(
            *named,
            *numbers,
            *(is_timed, window, slide),
            members=members,
            sample=whole_between(sample, 0, SAMPLE_MAX),
            lateness_us=None if lateness_us is None else duration_us(lateness_us),
            since=since_of(definition),
        )
        if not has_area(query.radius):
            raise ValueError(f"{eps} is no eps")
        return query


def _windows(definition: Mapping[str, Any]) -> tuple[bool, int, int]:
    """Return three values: whether windows are by time, the length of a window, and the slide (distance between two
    windows). Raise ValueError if one of them is out of range.
    """
    is_timed = "window_us" in definition
    unit = "us" if is_timed else "points"
    window = (duration_us if is_timed else whole_between)(definition[f"window_{unit}"], 1)
    return is_timed, window, whole_between(definition[f"slide_{unit}"], -(-window // SLIDES_MAX), window)


def has_area(radius: float) -> bool:
    """Return whether a radius can be used for comparisons of squared distances: the radius and its square are positive
    and finite.

    >>> has_area(0.5), has_area(1e-170), has_area(1e170), has_area(float("nan")), has_area(-1.0)
    (True, False, False, False, False)
    """
    return radius > 0 and 0 < radius * radius < math.inf
