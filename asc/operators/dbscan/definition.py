"""Definitions of DBSCAN queries: checked parameters, which the API and the registry represent as the same
JSON object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from asc.errors import DbscanError
from asc.operators.dbscan.dbscan_query import (
    ATTRIBUTES_MAX,
    MEMBERS,
    OP,
    SAMPLE_MAX,
    SLIDES_MAX,
    DbscanQuery,
    Members,
    has_area,
)
from asc.operators.dbscan.schedule import Schedule
from asc.operators.dbscan.sphere import HALF_EARTH_M, chord

DEFAULT_TIME = "_timestamp"
LONGEST_S = 86_400
DEFAULT_SAMPLE = 200
_EXPRESSION_CHARS_MAX = 10_000
LEAST_S = 0.001
"""The shortest slide in seconds. The ids of clusters contain the ends of windows in milliseconds, so ends must be at
least a millisecond apart.
"""
COUNT_MAX = (1 << 63) - 1
"""The largest value of a parameter that is a number of points."""
COMBINATIONS_MAX = 1_000
"""The most queries that one definition with lists of parameters creates."""
SLIDE_IS_WINDOW = "slide = window: consecutive windows share no point, so no id lasts"

_FIELDS = (
    *("name", "attributes", "position", "eps", "min_samples", "time", "window_s", "slide_s", "window_points"),
    *("slide_points", "members", "key", "sample"),
)


@dataclass(frozen=True, slots=True)
class DbscanDefinition:
    """The parameters of a DBSCAN query.

    ``attributes``: numeric expressions over the record. Instead there may be ``position``, a point in degrees; then
    ``eps`` is in metres. ``time``: a TIMESTAMP; None for a query over a file, in which the row order is the time.
    ``window`` and ``slide``: the length of a window and the distance of two consecutive windows, in seconds if
    ``is_timed``, otherwise in points. ``members``: the points to output, see MEMBERS. ``key``: the expression whose
    value a member record shows. ``sample``: the most points that a window record shows.

    Invariant: the parameters satisfy the rules that :meth:`parse` checks.
    """

    attributes: tuple[str, ...]
    position: str | None
    eps: float
    min_samples: int
    time: str | None
    is_timed: bool
    window: float
    slide: float
    members: Members = "none"
    key: str | None = None
    sample: int = DEFAULT_SAMPLE

    @classmethod
    def parse(cls, plain: Mapping[str, Any], *, needs_time: bool = True) -> DbscanDefinition:
        """Return the definition in a JSON object. Raise DbscanError if the object is invalid.

        ``needs_time``: false for a query over a file, which may have no time.

        >>> plain = {"attributes": ["x", "y"], "eps": 0.5, "min_samples": 5, "window_points": 100, "slide_points": 10}
        >>> DbscanDefinition.parse(plain).summary()
        'eps 0.5, min_samples 5 over x, y, 100 points every 10'
        """
        for name in plain:
            if name not in _FIELDS:
                raise DbscanError("field operator", name, f"is not known: known are {', '.join(_FIELDS)}")
        if plain.get("name", OP) != OP:
            raise DbscanError("operator", plain["name"], f"is none of DBSCAN: give {OP}")
        position = plain.get("position")
        attributes = _attributes(plain.get("attributes"), position)
        is_timed, window, slide = _windows(plain)
        time, key, members = plain.get("time"), plain.get("key"), plain.get("members", MEMBERS[0])
        if members not in MEMBERS:
            raise DbscanError("operator.members", members, f"give one of {', '.join(MEMBERS)}")
        if time is None and needs_time:
            time = DEFAULT_TIME
        return cls(
            attributes,
            None if position is None else _expression("position", position),
            _eps(plain.get("eps"), is_metres=position is not None),
            _count("min_samples", plain.get("min_samples"), 1, "a point and its neighbours, itself included"),
            None if time is None else _expression("time", time),
            is_timed,
            window,
            slide,
            members,
            None if key is None else _expression("key", key),
            _count("sample", plain.get("sample", DEFAULT_SAMPLE), 0, "points of a window record", SAMPLE_MAX),
        )

    def plain(self) -> dict[str, Any]:
        """Return the definition as a JSON object that :meth:`parse` accepts."""
        unit = "s" if self.is_timed else "points"
        return {
            "name": OP,
            **({"attributes": list(self.attributes)} if self.position is None else {"position": self.position}),
            "eps": self.eps,
            "min_samples": self.min_samples,
            "time": self.time,
            f"window_{unit}": self.window,
            f"slide_{unit}": self.slide,
            "members": self.members,
            "key": self.key,
            "sample": self.sample,
        }

    def summary(self) -> str:
        """Return the definition in one line."""
        over = ", ".join(self.attributes) if self.position is None else self.position
        metres = "" if self.position is None else " m"
        windows = (
            f"{self.window} s every {self.slide} s" if self.is_timed else f"{self.window} points every {self.slide}"
        )
        return f"eps {self.eps}{metres}, min_samples {self.min_samples} over {over}, {windows}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings that a user sees at the registration of the query."""
        return (SLIDE_IS_WINDOW,) if self.window == self.slide else ()

    @property
    def schedule(self) -> Schedule:
        """Return the schedule of the query's windows, in microseconds or in points."""
        unit = 1_000_000 if self.is_timed else 1
        return Schedule(round(self.window * unit), round(self.slide * unit))

    def query(
        self,
        query_id: str,
        topic: str,
        *,
        track: str,
        time: str,
        selection: str,
        lateness_us: int | None = None,
        since: int = -1,
    ) -> DbscanQuery:
        """Return the query with this definition, as the settings in a feed describe it. ``lateness_us``: None for the
        lateness of the stream.
        """
        schedule = self.schedule
        return DbscanQuery(
            query_id,
            topic,
            track,
            time,
            (selection,),
            2 if self.position is not None else len(self.attributes),
            self.position is not None,
            self.eps,
            self.min_samples,
            self.is_timed,
            schedule.window,
            schedule.slide,
            self.members,
            self.sample,
            lateness_us,
            since,
        )


def combinations(query_id: str, plain: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the id and the JSON object of each query that ``plain`` defines. If ``eps`` or ``min_samples`` is a list,
    there is a query for each combination of values, with ``query_id`` and a number as its id. A single query keeps
    ``query_id``.

    >>> [(own, each["min_samples"]) for own, each in combinations("dense", {"eps": 2.0, "min_samples": [10, 20]})]
    [('dense.1', 10), ('dense.2', 20)]
    """
    lists = {name: plain[name] for name in ("eps", "min_samples") if isinstance(plain.get(name), list)}
    for name, own in lists.items():
        if not own:
            raise DbscanError(f"operator.{name}", own, "has no number: give one, or several")
    count = prod(map(len, lists.values()))
    if count > COMBINATIONS_MAX:
        remedy = f"are too many: {COMBINATIONS_MAX:,} at most, divide the lists"
        raise DbscanError("combinations of eps and min_samples", count, remedy)
    found = [dict(zip(lists, own, strict=True)) for own in product(*lists.values())]
    names = [query_id] if len(found) == 1 else [f"{query_id}.{number}" for number in range(1, len(found) + 1)]
    return [(name, {**plain, **own}) for name, own in zip(names, found, strict=True)]


def _attributes(plain: object, position: object) -> tuple[str, ...]:
    if position is not None:
        if plain is not None:
            raise DbscanError("operator.attributes", plain, "and a position cannot both be: leave one out")
        return ()
    if not isinstance(plain, Sequence) or isinstance(plain, str) or not plain:
        raise DbscanError("operator.attributes", plain, 'give a list of numeric expressions, as ["x", "y"]')
    if len(plain) > ATTRIBUTES_MAX:
        raise DbscanError("operator.attributes", len(plain), f"a point has at most {ATTRIBUTES_MAX}: leave some out")
    return tuple(_expression("attributes", each) for each in plain)


def _eps(value: object, *, is_metres: bool) -> float:
    what = "metres" if is_metres else "a radius"
    if not _is_number(value):
        raise DbscanError("operator.eps", value, f"give {what}, as a number above 0")
    try:
        eps = float(value)  # type: ignore[arg-type]
    except OverflowError:
        eps = float("inf")
    if is_metres and eps > HALF_EARTH_M:
        remedy = f"is more than half around the earth: give at most {int(HALF_EARTH_M):,} m"
        raise DbscanError("operator.eps", value, remedy)
    if not has_area(chord(eps) if is_metres else eps):
        raise DbscanError("operator.eps", value, f"give {what} above 0 whose square is neither 0 nor infinite")
    return int(eps) if eps.is_integer() and isinstance(value, int) else eps


def _count(name: str, value: object, least: int, what: str, most: int = COUNT_MAX) -> int:
    count = int(value) if isinstance(value, float) and value.is_integer() else value
    if type(count) is not int or not least <= count <= most:
        raise DbscanError(f"operator.{name}", value, f"give a whole number from {least} to {most:,}: {what}")
    return count


def _windows(plain: Mapping[str, Any]) -> tuple[bool, float, float]:
    """Return three values: whether windows are by time, the length of a window, and the slide (distance between two
    windows).
    """
    timed = [name for name in ("window_s", "slide_s") if plain.get(name) is not None]
    counted = [name for name in ("window_points", "slide_points") if plain.get(name) is not None]
    if timed and counted:
        raise DbscanError(f"operator.{counted[0]}", plain[counted[0]], f"and {timed[0]} cannot both be: leave one out")
    window: float
    slide: float
    if counted:
        window = _count("window_points", plain.get("window_points"), 1, "points of a window")
        slide = _count("slide_points", plain.get("slide_points"), 1, "points between the ends of windows")
    else:
        window = _seconds("window_s", plain.get("window_s"))
        slide = _seconds("slide_s", plain.get("slide_s"))
    unit = "points" if counted else "s"
    if slide > window:
        remedy = f"is longer than the window of {window}: shorten it, or records would be in no window"
        raise DbscanError(f"operator.slide_{unit}", slide, remedy)
    if round(window * 1_000_000) > SLIDES_MAX * round(slide * 1_000_000):
        remedy = f"is more than {SLIDES_MAX:,} slides of {slide}: shorten it, or lengthen the slide"
        raise DbscanError(f"operator.window_{unit}", window, remedy)
    return not counted, window, slide


def _seconds(name: str, value: object) -> float:
    if not _is_number(value) or not LEAST_S <= value <= LONGEST_S:  # type: ignore[operator]
        raise DbscanError(f"operator.{name}", value, f"give seconds, from {LEAST_S} to {LONGEST_S:,}, or points")
    seconds = round(float(value), 6)  # type: ignore[arg-type]
    return int(seconds) if seconds.is_integer() else seconds


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _expression(what: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _EXPRESSION_CHARS_MAX:
        remedy = f"give an expression over the record, of at most {_EXPRESSION_CHARS_MAX:,} characters"
        raise DbscanError(f"operator.{what}", value, remedy)
    try:
        value.encode()
    except UnicodeEncodeError:
        shown = value.encode("utf-8", "replace").decode()
        raise DbscanError(f"operator.{what}", shown, "holds half of a surrogate pair: write whole characters") from None
    return value.strip()
