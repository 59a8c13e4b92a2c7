"""The type of options that are durations, such as ``30s``."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _Type = click.ParamType[float]
else:
    # Earlier versions of Click have no such types at run time.
    _Type = click.ParamType

_SECONDS = {"ms": 0.001, "s": 1, "min": 60, "h": 3_600, "d": 86_400}


class Duration(_Type):
    """The type of an option with a duration such as ``30s``, ``5min`` or ``1.5h``, which is converted to seconds.
    ``bounds_s``: returns the least and the largest permitted seconds; None means no bounds.
    """

    name = "duration"

    def __init__(self, bounds_s: Callable[[], tuple[float, float]] | None = None) -> None:
        self._bounds_s = bounds_s

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds of a duration such as ``5min``. Raise BadParameter if the text is no duration, is no whole
        number of microseconds, or exceeds a bound.
        """
        if isinstance(value, (int, float)):
            return value
        found = re.fullmatch(r"\s*([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*(ms|s|min|h|d)\s*", value)
        if found is None:
            self.fail(f"{value!r} is no duration: write a number and ms, s, min, h or d, as 30s", param, ctx)
        microseconds = Fraction(found[1]) * round(_SECONDS[found[2]] * 1_000_000)
        if microseconds.denominator > 1:
            self.fail(
                f"{value!r} is no whole number of microseconds: write at most six decimals of a second", param, ctx
            )
        seconds = float(microseconds / 1_000_000)
        if self._bounds_s is not None:
            least_s, most_s = self._bounds_s()
            if not least_s <= seconds <= most_s:
                remedy = f"write a time from {duration_text(least_s)} to {duration_text(most_s)}"
                self.fail(f"{value!r} is too {'short' if seconds < least_s else 'long'}: {remedy}", param, ctx)
        return int(seconds) if seconds.is_integer() else seconds


def duration_text(seconds: float) -> str:
    """Return a duration in the largest unit that gives a whole number.

    >>> duration_text(0.1), duration_text(90), duration_text(86_400), duration_text(0)
    ('100ms', '90s', '1d', '0s')
    """
    thousandths = round(seconds * 1_000)
    for unit, size in reversed(_SECONDS.items()):
        count, rest = divmod(thousandths, round(size * 1_000))
        if count and not rest:
            return f"{count}{unit}"
    return "0s"
