"""A line chart over panes of event time, as SVG. Intervals in which records may be missing are shaded."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from broker.http.console.drawing import HEIGHT, WIDTH, Points, ends, line, rounded_up, rule, span
from broker.pages.markup import text

_UNITS = ((1e15, ""), (1e12, " T"), (1e9, " G"), (1e6, " M"))
"""The units of large values. For each unit: the least value for which it is used, and its sign. A value with an empty
sign is written with a power of ten.
"""

Interval = tuple[int | None, int | None]
"""An interval in microseconds since 1970: its beginning, and its exclusive end. None means no bound on this side."""


@dataclass(frozen=True, slots=True)
class Panes:
    """The time axis of a chart. It has ``points`` points, each for an interval of ``step_us`` microseconds. The first
    interval begins at ``first_us`` (microseconds since 1970).
    """

    first_us: int
    step_us: int
    points: int

    def share(self, at_us: int) -> float:
        """Return the position of a time on the axis, from 0 at the beginning to 1 at the end."""
        return min(1.0, max(0.0, (at_us - self.first_us) / (self.step_us * self.points)))


def pane_chart(
    title: str,
    said: str,
    panes: Panes,
    values: Mapping[int, float],
    over_nothing: float | None,
    *,
    times: Sequence[str],
    missing: Sequence[Interval] = (),
) -> Markup:
    """Return a chart with one line over panes of event time.

    ``values``: the value of each point, by the number of the point. ``over_nothing``: the value of a measure over no
    records, which points without a value get; None omits these points. ``said``: the content in words, for users who
    cannot see the chart. ``times``: the labels of the beginning, the middle and the end. ``missing``: the intervals in
    which records may be missing, which are shaded.
    """
    low, high = _bounds([*values.values(), *(() if over_nothing is None else (over_nothing,))])
    shades = [span(*own) for each in missing if (own := _shares(panes, each)) is not None]
    rules = [rule(_share(value, low, high), short_number(value)) for value in _ruled(low, high)]
    lines = [line(0, piece) for piece in _pieces(panes.points, values, over_nothing, low, high)]
    return Markup(
        '<figure class="chart wide"><figcaption>{}</figcaption>'
        '<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg></figure>'
    ).format(text(title), WIDTH, HEIGHT, text(said), Markup("").join([*shades, *rules, ends(*times), *lines]))


def short_number(value: float) -> str:
    """Return a number for the label of an axis, in a few characters.

    >>> short_number(2_500_000.0), short_number(-0.25), short_number(1_000.0), short_number(5e17)
    ('2.5 M', '-0.25', '1,000', '5e+17')
    """
    for least, unit in _UNITS:
        if abs(value) >= least:
            return f"{value / least:.3g}{unit}" if unit else f"{value:.3g}"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.3g}"


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    """Return the least and the greatest value of the y axis, as round numbers. The axis always includes 0."""
    least, most = min(values, default=0.0), max(values, default=0.0)
    high = min(rounded_up(most), sys.float_info.max) if most > 0 else 0.0
    low = -min(rounded_up(-least), sys.float_info.max) if least < 0 else 0.0
    return (low, high) if low < high else (0.0, 1.0)


def _ruled(low: float, high: float) -> list[float]:
    """Return the values at which horizontal rules are drawn: both ends of the axis, and between them 0, or the middle
    if all values have one sign.
    """
    return [low, 0.0 if low < 0 < high else (low + high) / 2, high]


def _share(value: float, low: float, high: float) -> float:
    # Values are halved first, because the difference of two very large doubles would be infinite.
    return value / high / 2 + 0.5 if high == -low else (value / 2 - low / 2) / (high / 2 - low / 2)


def _pieces(
    points: int, values: Mapping[int, float], over_nothing: float | None, low: float, high: float
) -> Iterator[Points]:
    """Yield the parts of the line between points without a value."""
    piece: list[tuple[float, float]] = []
    for point in range(points):
        value = values.get(point, over_nothing)
        if value is not None:
            piece.append(((point + 0.5) / points, _share(value, low, high)))
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _shares(panes: Panes, interval: Interval) -> tuple[float, float] | None:
    """Return the beginning and the end of the part of an interval that is on the axis, as shares of the axis. Return
    None if no part of the interval is on the axis.
    """
    last_us = panes.first_us + panes.step_us * panes.points
    first_us = panes.first_us if interval[0] is None else max(panes.first_us, interval[0])
    end_us = last_us if interval[1] is None else min(last_us, interval[1])
    return None if first_us >= end_us else (panes.share(first_us), panes.share(end_us))
