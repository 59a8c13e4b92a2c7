"""Hours of the local day, by which a question selects panes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from asc.errors import CubeError
from asc.operators.cube.calendar import NO_TIME, lies_in_hours
from asc.operators.cube.definition import DAY_HOURS, HOUR_S, CubeDefinition
from asc.operators.cube.view import grain_text
from asc.operators.cube.zone_offsets import zone_offsets

_Ints = npt.NDArray[np.int64]

_DAY_S = DAY_HOURS * HOUR_S
_RANGE = re.compile(r"\s*([0-9]{1,2})\s*-\s*([0-9]{1,2})\s*", re.ASCII)
_REMEDY = "give ranges of local hours from 0 to 24, each with an exclusive end, as 14-16, 22-2 or 8-10,14-16"
_CHARS_MOST = 250
"""The largest number of characters of a text of hours. Single ranges for all 24 hours need fewer."""


@dataclass(frozen=True, slots=True)
class LocalHours:
    """Hours of the local day of a time zone, from 0 to 23, ascending, which select panes of ``grain_s`` seconds.

    A pane is selected if the local clock shows one of the hours at the begin of the pane. An hour that the clock
    repeats is selected twice, and an hour that the clock skips selects no pane.
    """

    hours: tuple[int, ...]
    time_zone: str
    grain_s: int

    @staticmethod
    def of(value: object, definition: CubeDefinition, time_zone: str) -> LocalHours | None:
        """Return the hours in the field ``hours`` of a question. Return None if ``value`` is None, or contains all
        hours. Raise CubeError if the value is invalid.

        >>> plain = {"measures": ["count(*)"], "grain_s": 900}
        >>> LocalHours.of("22-2,8-9", CubeDefinition.parse(plain), "Europe/Berlin").hours
        (0, 1, 8, 22, 23)
        """
        if value is None:
            return None
        if not isinstance(value, str) or len(value) > _CHARS_MOST:
            raise CubeError("hours", value, _REMEDY)
        hours = sorted({hour for text in value.split(",") for hour in _hours_of(text, value)})
        if definition.grain_s is None:
            raise CubeError("hours", value, NO_TIME)
        if definition.grain_s > HOUR_S:
            detail = (
                f"needs panes of at most an hour, and the cube's have {grain_text(definition.grain_s)}: leave it out"
            )
            raise CubeError("hours", value, detail)
        return None if len(hours) == DAY_HOURS else LocalHours(tuple(hours), time_zone, definition.grain_s)

    def contains(self, panes: _Ints) -> npt.NDArray[np.bool_]:
        """Return for each pane whether it is selected."""
        times_s = panes * self.grain_s
        clock_s = times_s + zone_offsets(self.time_zone).at(times_s)
        is_chosen = np.zeros(DAY_HOURS, dtype=np.bool_)
        is_chosen[list(self.hours)] = True
        is_selected: npt.NDArray[np.bool_] = is_chosen[clock_s % _DAY_S // HOUR_S]
        return is_selected

    def consist_of(self, panes: int) -> bool:
        """Return whether each hour consists of whole stored panes. ``panes``: the length of a stored pane in panes of
        the cube.
        """
        grain_s = panes * self.grain_s
        return HOUR_S % grain_s == 0 and lies_in_hours(grain_s, self.time_zone)

    @property
    def bounds(self) -> tuple[int, ...]:
        """Return the hours at which a range of selected hours begins or ends, ascending."""
        chosen = set(self.hours)
        return tuple(hour for hour in range(DAY_HOURS) if (hour in chosen) != ((hour - 1) % DAY_HOURS in chosen))

    def segments(self, first: int, end: int) -> tuple[_Ints, _Ints]:
        """Return the maximal intervals of selected panes from ``first`` to before ``end``, as an array of first panes
        and an array of ends. Cost: proportional to the number of days.
        """
        zone = zone_offsets(self.time_zone)
        first_s, end_s = first * self.grain_s, end * self.grain_s
        inner = zone.starts_s[(first_s < zone.starts_s) & (zone.starts_s < end_s)]
        edges_s = [first_s, *inner.tolist(), end_s]
        bounds_s = np.array(self.bounds, dtype=np.int64) * HOUR_S
        candidates_s = [np.array([first_s], dtype=np.int64), inner]
        for low_s, high_s in pairwise(edges_s):
            offset_s = int(zone.at(np.array([low_s], dtype=np.int64))[0])
            days = np.arange((low_s + offset_s) // _DAY_S, (high_s + offset_s) // _DAY_S + 1)
            times_s = (days[:, None] * _DAY_S + bounds_s - offset_s).ravel()
            candidates_s.append(times_s[(low_s < times_s) & (times_s < high_s)])
        panes = np.unique(-(-np.concatenate(candidates_s) // self.grain_s))
        panes = panes[panes < end]
        is_selected = np.concatenate(([False], self.contains(panes), [False]))
        changes = np.flatnonzero(is_selected[1:] != is_selected[:-1])
        edges = np.append(panes, end)[changes]
        return edges[::2], edges[1::2]


def _hours_of(text: str, value: str) -> list[int]:
    """Return the hours of one range, such as ``22-2``. ``value``: the whole text, for the error."""
    match = _RANGE.fullmatch(text)
    first, end = (int(match[1]), int(match[2])) if match else (0, 0)
    if first == end or first >= DAY_HOURS or end > DAY_HOURS:
        raise CubeError("hours", value, _REMEDY)
    return [hour % DAY_HOURS for hour in range(first, end if first < end else end + DAY_HOURS)]
