"""Time series of one measure, computed from the cells of an interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.answer_memory import Reserve, held, joining_bytes, merging_bytes, placing_bytes, unbounded
from asc.operators.cube.answered import Answered, ordered_type, ordered_values
from asc.operators.cube.cells import joined, merged
from asc.operators.cube.json_values import plain_values
from asc.operators.cube.layout import Layout
from asc.operators.cube.part import Part
from asc.operators.cube.points import Points
from asc.operators.cube.question import Question
from asc.operators.cube.source import needed


@dataclass(frozen=True, slots=True)
class Series:
    """The values of a measure at successive points, each of which covers several panes.

    ``first``: the first pane. ``panes``: the number of panes of each point. ``points``: the number of points; the first
    and the last one may be only partly in the interval. ``values``: the values by point number. ``over_nothing``: the
    value of a point that is missing in ``values``; None if the measure has no value without records, or if the question
    reads only some hours.
    """

    first: int
    panes: int
    points: int
    values: Mapping[int, float]
    over_nothing: float | None


def is_number(measure: Answered) -> bool:
    """Return whether the values of a measure, or their estimates, are numbers, so that they can be drawn."""
    kind, types = ordered_type(measure.type), pa.types
    return kind is not None and bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def series(
    layout: Layout,
    read: Sequence[Part],
    question: Question,
    measure: Answered,
    points: Points,
    *,
    reserve: Reserve = unbounded,
) -> Series | None:
    """Return the values of a measure at points that contain the interval. Return None if the interval has no cell.

    All groups that WHERE accepts are combined. A point over several panes is exact, because states are merged. Each
    pane of ``read`` must lie in one point. ``reserve`` is called as in :func:`answer`. Cost: a pass over the cells of
    the interval.
    """
    none = tuple(0 for _ in layout.definition.dimensions.hierarchies)
    source = needed(layout, read, replace(question, cuboids=(none,)), reserve)
    parts = [part.rolled_up(()) for part in source.parts]
    reserve(joining_bytes(parts))
    cells = joined(layout, parts)
    if not cells.count:
        return None
    with held(reserve, placing_bytes(cells) + merging_bytes(cells)):
        binned = replace(cells, panes=frozen((cells.panes - points.first) // points.panes))
        found = merged(layout, [binned])
    values = _numbers(plain_values(ordered_values(measure.of(found.states)), is_integer=measure.is_integer))
    by_point = dict(zip(found.panes.tolist(), values, strict=True))
    return Series(
        points.first,
        points.panes,
        points.count,
        {point: value for point, value in by_point.items() if value is not None},
        0.0 if measure.is_count and question.hours is None else None,
    )


def _numbers(values: Sequence[Any]) -> list[float | None]:
    """Return answers as numbers. An answer that is missing, infinite or NaN becomes None."""
    found = [None if value is None else float(value) for value in values]
    return [None if value is None or not math.isfinite(value) else value for value in found]
