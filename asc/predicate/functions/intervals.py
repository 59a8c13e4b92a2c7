"""The functions that construct intervals from numbers."""

from __future__ import annotations

from asc.predicate.functions.function import Call, Function, plain
from asc.predicate.functions.results import always
from asc.predicate.functions.try_spellings import with_short_number
from asc.predicate.syntax.interval_type import CALENDAR, DAY_TIME, YEAR_MONTH


def _caught_days(call: Call) -> str:
    return f"try_add({with_short_number(call, 3)}, {DAY_TIME.zero})"


def _calendar(call: Call) -> str:
    return with_short_number(call, 6)


def _caught_months(call: Call) -> str:
    return f"try_add({plain(call)}, {YEAR_MONTH.zero})"


INTERVALS = {
    "make_dt_interval": Function(0, 4, "n", always(DAY_TIME), spelling=_caught_days, fails=True),
    "make_ym_interval": Function(0, 2, "n", always(YEAR_MONTH), spelling=_caught_months, fails=True),
    "make_interval": Function(0, 7, "n", always(CALENDAR), spelling=_calendar, fails=True),
    "try_make_interval": Function(1, 7, "n", always(CALENDAR), spelling=_calendar),
}
