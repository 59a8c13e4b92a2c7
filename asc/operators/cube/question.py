"""Questions to cubes: checked requests for groups and measures of an interval."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from asc.errors import CubeError
from asc.operators.cube.asked_measure import AskedMeasure, asked_measure, asked_measures
from asc.operators.cube.calendar import NO_TIME, Calendar
from asc.operators.cube.cuboid import CUBOIDS_MAX, Levels
from asc.operators.cube.definition import CubeDefinition, checked_grain_s
from asc.operators.cube.json_values import instant_of, instant_text
from asc.operators.cube.local_hours import LocalHours
from asc.operators.cube.segments import segments
from asc.operators.cube.view import grain_text
from asc.operators.cube.within.within import WITHIN_MEASURES, Within
from asc.spark_types import folded

DEFAULT_LIMIT = 1_000
LIMIT_MAX = 100_000
"""The largest number of rows of an answer."""

TIME = "pane"
"""The name of the field with the begin of a row's interval. Rows may be ordered by this field."""

WINDOW = "window"
"""The name of the field with the begin and the end of a row's day or month."""

_FIELDS = ("by", "where", "within", "from", "to", "grain_s", "grain", "hours", "measures", "order", "limit")
_NAMES_SHOWN = 20
_TWICE = "is named twice: name it once"
_BY_REMEDY = 'give a cuboid, as ["carrier"], or a list of them, as [["carrier"], []]'


@dataclass(frozen=True, slots=True)
class Ordering:
    """A measure or dimension by which rows are ordered. The name TIME orders rows by the start of their intervals.

    ``measure``: the measure; None if rows are ordered by a dimension or by time.
    """

    name: str
    is_descending: bool
    measure: AskedMeasure | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a cube: groups and measures of an interval.

    ``cuboids``: the requested cuboids, at least one, without repetition. ``orders``: for each cuboid, its hierarchies
    in the order in which the request names them. ``where``: a predicate over dimensions. ``first``, ``end``: the panes
    of the interval, from ``first`` to before ``end``; None means no bound. ``measures``: the measures of a row.
    ``skip``: the number of rows before the first row that is shown. ``panes``: the number of panes in each interval
    that has separate rows; None if all panes are combined. Bounds of the interval are multiples of ``panes``.
    ``calendar``: the days or months that have separate rows, in place of ``panes``. ``hours``: the hours whose panes
    are read; None means all panes. ``within``: the scope whose cells are read; None means all cells.
    """

    cuboids: tuple[Levels, ...]
    orders: tuple[tuple[int, ...], ...]
    where: str | None = None
    first: int | None = None
    end: int | None = None
    measures: tuple[AskedMeasure, ...] = ()
    ordering: tuple[Ordering, ...] = ()
    limit: int = DEFAULT_LIMIT
    body: Mapping[str, Any] | None = None
    skip: int = 0
    panes: int | None = None
    calendar: Calendar | None = None
    hours: LocalHours | None = None
    within: Within | None = None

    @staticmethod
    def parse(
        body: Mapping[str, Any],
        definition: CubeDefinition,
        time_zone: str = "UTC",
        kept: Collection[int] = (),
        kept_from: int | None = None,
    ) -> Question:
        """Return the question in a JSON object. Raise CubeError with the field, the value and the remedy if it is
        invalid. ``time_zone``: the zone of days, months and hours. ``kept``: see :func:`interval_panes`. ``kept_from``:
        the first pane that is not deleted; remedies name no earlier time. None if no pane is deleted.
        """
        for name in body:
            if name not in _FIELDS:
                raise CubeError("field", name, f"is not known: known are {', '.join(_FIELDS)}")
        cuboids, orders = _cuboids(body.get("by", []), definition)
        panes = interval_panes(body.get("grain_s"), definition, kept)
        calendar = Calendar.of(body.get("grain"), definition, time_zone)
        if calendar is not None and panes is not None:
            raise CubeError("grain", calendar.unit, f"is given beside grain_s, {body['grain_s']}: give one of them")
        within = Within.of(body.get("within"), definition)
        first, end = (
            _pane(name, body.get(name), definition, panes or 1, kept_from)
            if calendar is None
            else calendar.border(name, body.get(name), kept_from)
            for name in ("from", "to")
        )
        if first is not None and end is not None and first >= end:
            raise CubeError("to", body["to"], f"is not after from, {body['from']}: give a later time")
        measures = asked_measures(body.get("measures"), definition, always=() if within is None else WITHIN_MEASURES)
        has_time = panes is not None or calendar is not None
        return Question(
            cuboids,
            orders,
            _where(body.get("where")),
            first,
            end,
            measures,
            _ordering(body.get("order"), definition, cuboids, measures, has_time=has_time),
            _limit(body.get("limit", DEFAULT_LIMIT)),
            dict(body),
            panes=panes,
            calendar=calendar,
            hours=LocalHours.of(body.get("hours"), definition, time_zone),
            within=within,
        )

    @property
    def has_intervals(self) -> bool:
        """Return whether a group has a separate row for each interval of the question's grain."""
        return self.panes is not None or self.calendar is not None

    def numbers(self, panes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return for each pane the number of the interval of the question's grain that contains it. The question must
        have a grain.
        """
        if self.calendar is not None:
            return self.calendar.numbers(panes)
        assert self.panes is not None
        return panes // self.panes

    def floor(self, pane: int) -> int:
        """Return the first pane of the interval of the question's grain that contains a pane."""
        return pane - pane % (self.panes or 1) if self.calendar is None else self.calendar.floor(pane)

    def ceil(self, pane: int) -> int:
        """Return the first pane of the first interval of the question's grain that begins at a pane or later."""
        return pane + -pane % (self.panes or 1) if self.calendar is None else self.calendar.ceil(pane)

    def segments(self, first: int, end: int, panes: int = 1) -> Sequence[tuple[int, int]]:
        """Return the panes from ``first`` to before ``end`` that the question reads, as ascending disjoint intervals.

        If the question has a calendar, each interval is in one day or month. A grain in ``grain_s`` does not divide the
        intervals. ``panes``: see :func:`segments`. Raise CubeError if there may be more than SEGMENTS_MAX intervals.
        """
        return segments(first, end, self.calendar, self.hours, panes)

    def until(self, end: int) -> Question:
        """Return the question with another end. If the question has a grain, the new end is that of the last whole
        interval up to ``end``. The end is never before the begin.
        """
        end = self.floor(end)
        return replace(self, end=end if self.first is None else max(end, self.first))


def _cuboids(plain: object, definition: CubeDefinition) -> tuple[tuple[Levels, ...], tuple[tuple[int, ...], ...]]:
    if not isinstance(plain, Sequence) or isinstance(plain, str):
        raise CubeError("by", plain, _BY_REMEDY)
    dimensions = definition.dimensions
    names_most = max(1, len(dimensions.names))
    remedy = f"a question has at most {CUBOIDS_MAX:,} cuboids of {names_most} names: name each once"
    if len(plain) > CUBOIDS_MAX:
        raise CubeError("by", len(plain), remedy)
    several = plain if _is_several(plain) else [plain]
    for names in several:
        if len(names) > names_most:
            raise CubeError("by", len(names), remedy)
    order_by_cuboid: dict[Levels, tuple[int, ...]] = {}
    for names, (cuboid, order) in zip(several, dimensions.cuboids_of(several), strict=True):
        spelled = [folded(name.strip()) for name in names]
        if len(set(spelled)) < len(spelled):
            raise CubeError("by", list(names), "has a dimension twice: name each once")
        order_by_cuboid.setdefault(cuboid, order)
    return tuple(order_by_cuboid), tuple(order_by_cuboid.values())


def _is_several(plain: Sequence[object]) -> bool:
    nested = [isinstance(own, Sequence) and not isinstance(own, str) for own in plain]
    if any(nested) and not all(nested):
        raise CubeError("by", plain, _BY_REMEDY)
    return any(nested)


def interval_panes(value: object, definition: CubeDefinition, kept: Collection[int] = ()) -> int | None:
    """Return the number of panes in each interval of a question's grain, ``value`` in seconds. Return None if the
    question has no grain. Raise CubeError if the grain is invalid. ``kept``: the numbers of panes of bands, which are
    valid even if their length divides no day.
    """
    if value is None:
        return None
    if definition.grain_s is None:
        raise CubeError("grain_s", value, NO_TIME)
    if any(value == own * definition.grain_s for own in kept):
        return next(own for own in kept if value == own * definition.grain_s)
    panes, rest = divmod(checked_grain_s(value), definition.grain_s)
    if rest:
        remedy = (
            f"is no multiple of the cube's grain of {grain_text(definition.grain_s)}: give one, as {definition.grain_s}"
        )
        raise CubeError("grain_s", value, remedy)
    return panes


def _pane(name: str, value: object, definition: CubeDefinition, panes: int, kept_from: int | None = None) -> int | None:
    """Return the pane that begins at a time. Return None if there is no time. Raise CubeError if the time is not a
    multiple of the length of ``panes`` panes. ``kept_from``: as in :meth:`Question.parse`.
    """
    if value is None:
        return None
    if definition.grain_us is None:
        raise CubeError(name, value, NO_TIME)
    grain_us = panes * definition.grain_us
    interval, rest = divmod(instant_of(name, value), grain_us)
    if rest:
        least = interval if kept_from is None else -(-kept_from // panes)
        near = instant_text(max(interval, least) * grain_us)
        remedy = f"is off the grain of {grain_text(grain_us // 1_000_000)}: give a multiple, as {near}"
        raise CubeError(name, value, remedy)
    return interval * panes


def _where(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise CubeError("where", value, "give a predicate over dimensions, as Spark SQL")
    return value


def _ordering(
    plain: object,
    definition: CubeDefinition,
    cuboids: Sequence[Levels],
    measures: Sequence[AskedMeasure],
    *,
    has_time: bool,
) -> tuple[Ordering, ...]:
    if plain is None:
        return ()
    dimensions = definition.dimensions
    grouped = [set(dimensions.columns(cuboid)) for cuboid in cuboids]
    names = [name for place, name in enumerate(dimensions.names) if all(place in places for places in grouped)]
    calls = {folded(measure.name): measure for measure in measures if measure.function}
    shown = [*names, *(measure.name for measure in definition.measures), *(own.name for own in calls.values())]
    shown += [TIME] if has_time else []
    example = f"{shown[-1]} DESC"
    remedy = (
        f"give a list of some of {', '.join(shown[:_NAMES_SHOWN])}, as [{json.dumps(example)}], on the command line as "
        f"{shlex.quote(example)}"
    )
    if not isinstance(plain, Sequence) or isinstance(plain, str):
        raise CubeError("order", plain, remedy)
    others = set(map(folded, [*names, TIME] if has_time else names))
    ordering: list[Ordering] = []
    for text in plain:
        if not isinstance(text, str):
            raise CubeError("order", text, remedy)
        name, _, direction = text.strip().rpartition(" ")
        if direction.upper() not in ("ASC", "DESC") or not name:
            name, direction = text.strip(), "ASC"
        own = _ordered_by(name.strip(), definition, others, calls, CubeError("order", text, remedy))
        if any(_is_twice(own, other) for other in ordering):
            raise CubeError("order", text, _TWICE)
        ordering.append(replace(own, is_descending=direction.upper() == "DESC"))
    return tuple(ordering)


def _ordered_by(
    name: str, definition: CubeDefinition, others: set[str], calls: Mapping[str, AskedMeasure], refusal: CubeError
) -> Ordering:
    """Return the measure, the dimension or the time with a name. ``others``: the names of dimensions and of time.
    ``calls``: the question functions of the question by their names. Raise ``refusal`` for any other name.
    """
    spelled = folded(name)
    if spelled in others:
        return Ordering(spelled, is_descending=False)
    if spelled in calls:
        return Ordering(spelled, False, calls[spelled])
    if "(" not in name and all(folded(measure.name) != spelled for measure in definition.measures):
        raise refusal
    measure = asked_measure(name, definition)
    return Ordering(folded(measure.name), False, measure)


def _is_twice(one: Ordering, other: Ordering) -> bool:
    if one.measure is None or other.measure is None:
        return one.name == other.name
    return one.measure.is_same(other.measure)


def _limit(value: object) -> int:
    if type(value) is not int or not 1 <= value <= LIMIT_MAX:
        raise CubeError("limit", value, f"give a number of rows from 1 to {LIMIT_MAX:,}")
    return value
