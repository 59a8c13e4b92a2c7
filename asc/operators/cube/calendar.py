"""Days and months of a time zone, as intervals of panes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asc.errors import CubeError
from asc.operators.cube.definition import DAY_HOURS, HOUR_S, CubeDefinition
from asc.operators.cube.grain import offsets_s
from asc.operators.cube.json_values import instant_of, instant_text
from asc.operators.cube.view import grain_text
from asc.operators.cube.zone_offsets import zone_offsets
from asc.operators.times import FIRST_US, LAST_US

_Ints = npt.NDArray[np.int64]

DAY, MONTH = "1d", "1M"
_NAMES = {DAY: "days", MONTH: "months"}
NO_TIME = "the cube has no time: leave it out, or define the cube with a time and a grain"
_DAY_S = 86_400
_FIRST_S, _END_S = FIRST_US // 1_000_000, (LAST_US + 1) // 1_000_000


@dataclass(frozen=True, slots=True)
class Calendar:
    """The days or months of a time zone, each as an interval of panes of ``grain_s`` seconds.

    ``unit``: DAY or MONTH. A day or month has a number: days or months since 1970, by its local date. A day or month
    begins with the first pane at whose begin the local clock has shown its date or a later one, and ends where the next
    one begins. So it is one interval, even if the clock is set back over midnight. A date that the clock skips has no
    pane. The first and the last day or month end at the bounds of the years 1 to 9999 in UTC.
    """

    unit: str
    time_zone: str
    grain_s: int

    @staticmethod
    def of(value: object, definition: CubeDefinition, time_zone: str) -> Calendar | None:
        """Return the calendar for the field ``grain`` of a question. Return None if ``value`` is None. Raise CubeError
        if the value is invalid, or the panes of the cube are too long for days of the zone.
        """
        if value is None:
            return None
        if not isinstance(value, str) or value not in _NAMES:
            remedy = f"give {DAY} or {MONTH}, days or months of the time zone, or grain_s for another length"
            raise CubeError("grain", value, remedy)
        if definition.grain_s is None:
            raise CubeError("grain", value, NO_TIME)
        if not lies_in_hours(definition.grain_s, time_zone):
            own = grain_text(definition.grain_s)
            detail = f"needs panes of at most an hour in {time_zone}, and the cube's have {own}"
            given = f"grain_s {_DAY_S}, for days in UTC" if value == DAY else "grain_s, for intervals in UTC"
            raise CubeError("grain", value, f"{detail}: give {given}")
        return Calendar(value, time_zone, definition.grain_s)

    def numbers(self, panes: _Ints) -> _Ints:
        """Return for each pane the number of the day or month that contains it."""
        times_s = panes * self.grain_s
        days = (times_s + zone_offsets(self.time_zone).at(times_s)) // _DAY_S
        numbers = days if self.unit == DAY else days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        # The clock is set back by at most a day. So of the later days or months, only the next one can begin at this
        # pane or before.
        return numbers + (self.begins(numbers + 1) <= panes)

    def begins(self, numbers: _Ints) -> _Ints:
        """Return the first pane of each day or month. If the clock skips the day or month, return the first pane of the
        next one.
        """
        days = numbers if self.unit == DAY else numbers.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        times_s = zone_offsets(self.time_zone).first_at(days * _DAY_S)
        return -(-np.clip(times_s, _FIRST_S, _END_S) // self.grain_s)

    def consists_of(self, panes: int) -> bool:
        """Return whether each day or month consists of whole stored panes. ``panes``: the length of a stored pane in
        panes of the cube.
        """
        grain_s = panes * self.grain_s
        return _DAY_S % grain_s == 0 and lies_in_hours(grain_s, self.time_zone)

    def number(self, pane: int) -> int:
        """Return the number of the day or month that contains a pane."""
        return int(self.numbers(np.array([pane], dtype=np.int64))[0])

    def begin(self, number: int) -> int:
        """Return the first pane of a day or month."""
        return int(self.begins(np.array([number], dtype=np.int64))[0])

    def floor(self, pane: int) -> int:
        """Return the first pane of the day or month that contains a pane."""
        return self.begin(self.number(pane))

    def ceil(self, pane: int) -> int:
        """Return the first pane of the first day or month that begins at a pane or later."""
        return pane if self.floor(pane) == pane else self.begin(self.number(pane) + 1)

    def before(self, pane: int, count: int) -> int:
        """Return the first pane of the day or month that is ``count`` days or months before that of ``pane``. If it
        would be before the year 1, return a pane before that year.
        """
        first = _FIRST_S // self.grain_s
        number = self.number(pane) - count
        return self.begin(number) if number >= self.number(first) else first - 1

    def borders(self, first: int, end: int) -> _Ints:
        """Return the panes after ``first`` and before ``end`` at which a day or month begins, ascending."""
        begins = np.unique(self.begins(np.arange(self.number(first), self.number(end - 1) + 1)))
        return begins[(first < begins) & (begins < end)]

    def border(self, name: str, value: object, kept_from: int | None = None) -> int | None:
        """Return the pane at a bound of a question. Return None if ``value`` is None. Raise CubeError if no day or
        month begins at the bound. ``name``: the field of the bound, for the error. ``kept_from``: the first pane that
        is not deleted; the remedy names no earlier time. None if no pane is deleted.
        """
        if value is None:
            return None
        grain_us = self.grain_s * 1_000_000
        time_us = instant_of(name, value)
        pane = time_us // grain_us
        before = self.floor(pane)
        if before * grain_us == time_us:
            return before
        after = self.begin(self.number(pane) + 1)
        nearest = min((before, after), key=lambda own: abs(own * grain_us - time_us))
        if kept_from is not None and nearest < kept_from:
            nearest = self.ceil(kept_from)
        near = instant_text(nearest * grain_us)
        detail = f"is off the {days_text(self)}: give the begin of one, as {near}"
        raise CubeError(name, value, detail)


def days_text(calendar: Calendar) -> str:
    """Return the intervals of a calendar as a text, such as ``days of America/New_York``."""
    return f"{_NAMES[calendar.unit]} of {calendar.time_zone}"


def utc_text(length_s: int) -> str:
    """Return a length of panes as a text that distinguishes a day in UTC, ``24h``, from a day of the time zone, ``1d``.

    >>> utc_text(86_400), utc_text(3_600), utc_text(604_800)
    ('24h', '1h', '7d')
    """
    return f"{DAY_HOURS}h" if length_s == _DAY_S else grain_text(length_s)


def lies_in_hours(grain_s: int, time_zone: str) -> bool:
    """Return whether no hour of the local clock begins within a pane, only at the begin of panes. Panes longer than an
    hour are only possible in a zone without an offset from UTC. There, panes that divide a day have no begin of a day
    within them.
    """
    offsets = offsets_s(time_zone)
    return not any(offsets) or (grain_s <= HOUR_S and not any(own % grain_s for own in offsets))
