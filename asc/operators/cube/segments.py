"""Segments: the intervals of panes that a question with days, months or local hours reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from asc.errors import CubeError
from asc.operators.cube.calendar import Calendar
from asc.operators.cube.definition import DAY_HOURS, HOUR_S
from asc.operators.cube.json_values import bound_text
from asc.operators.cube.local_hours import LocalHours

_Ints = npt.NDArray[np.int64]

SEGMENTS_MAX = 20_000
"""The largest number of segments of a question: 54 years of days, or 27 years of two ranges of hours a day."""


def segments(
    first: int, end: int, calendar: Calendar | None, hours: LocalHours | None, panes: int = 1
) -> Sequence[tuple[int, int]]:
    """Return the panes from ``first`` to before ``end`` that are read, as ascending disjoint intervals.

    Each segment is in one day or month of the calendar, and contains only panes of the hours. Adjacent panes of one day
    or month are in one segment. ``panes``: the number of panes that are stored together; they are in the segment of the
    first of them. Raise CubeError if there may be more than SEGMENTS_MAX segments.
    """
    if first >= end:
        return []
    if calendar is None and hours is None:
        return [(first, end)]
    calendar = None if calendar is None else replace(calendar, grain_s=calendar.grain_s * panes)
    hours = None if hours is None else replace(hours, grain_s=hours.grain_s * panes)
    begins, ends = _bounds(first // panes, -(-end // panes), calendar, hours)
    firsts, lasts = np.maximum(begins * panes, first), np.minimum(ends * panes, end)
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def _bounds(first: int, end: int, calendar: Calendar | None, hours: LocalHours | None) -> tuple[_Ints, _Ints]:
    """Return the first panes of the segments, and their ends."""
    _check_count(first, end, calendar, hours)
    begins, ends = np.array([first], dtype=np.int64), np.array([end], dtype=np.int64)
    if hours is not None:
        begins, ends = hours.segments(first, end)
    if calendar is not None and len(begins):
        borders = calendar.borders(first, end)
        places = np.searchsorted(begins, borders, side="right") - 1
        inner = borders[(places >= 0) & (begins[places] < borders) & (borders < ends[places])]
        begins, ends = np.sort(np.append(begins, inner)), np.sort(np.append(ends, inner))
    return begins, ends


def _check_count(first: int, end: int, calendar: Calendar | None, hours: LocalHours | None) -> None:
    """Raise CubeError if the interval may have more than SEGMENTS_MAX segments."""
    count, field, grain_s = 1, "grain", 0
    if calendar is not None:
        count, grain_s = calendar.number(end - 1) - calendar.number(first) + 1, calendar.grain_s
    if hours is not None:
        days = (end - first) * hours.grain_s // (DAY_HOURS * HOUR_S) + 2
        count, field, grain_s = count + days * len(hours.bounds) // 2, "hours", hours.grain_s
    if min(count, end - first) > SEGMENTS_MAX:
        begin, stop = (bound_text(pane * grain_s * 1_000_000) for pane in (first, end))
        detail = f"gives over {SEGMENTS_MAX:,} intervals from {begin} to {stop}: give from and to that are nearer"
        raise CubeError(field, None, detail)
