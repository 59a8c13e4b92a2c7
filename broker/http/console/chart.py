"""Line charts of the last hour as SVG. The daemon renders them, so that pages need no script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from broker.http.console.drawing import HEIGHT, WIDTH, ends, rounded_up, rule
from broker.http.console.drawing import line as drawn_line
from broker.http.console.pages import duration_text
from broker.pages.markup import text

SPAN_S = 3_600

SECONDS = "s"
"""The unit of a chart whose values are durations in seconds. The chart shows each duration in ms, s, min or h,
whichever suits its size.
"""

_LONG_S = (120.0, 300.0, 600.0, 1_200.0, 1_800.0, 3_600.0, 7_200.0)
"""The possible upper ends, in seconds, of an axis on which the longest duration is over 100 s."""


class Line(NamedTuple):
    """A line of a chart: its name, and its values by the beginning of each interval (seconds since 1970).

    A time without a value has the value 0. With ``has_gaps``, or before ``since_s`` (seconds since 1970), the value is
    unknown, and the line has a gap.
    """

    name: str
    values: Mapping[int, float]
    has_gaps: bool = False
    since_s: float = 0.0

    def at(self, at_s: int, step_s: int) -> float | None:
        """Return the value of the interval of ``step_s`` seconds that begins at ``at_s``. Return None if the value is
        unknown.
        """
        is_known = not self.has_gaps and at_s + step_s > self.since_s
        return self.values.get(at_s, 0.0 if is_known else None)


def chart(title: str, lines: Sequence[Line], *, now_s: float, step_s: int, unit: str, is_whole: bool = False) -> Markup:
    """Return a chart of the last hour, with a point for each ``step_s`` seconds. The y axis extends from 0 to a round
    number that no value exceeds.

    ``now_s``: the current time. With ``is_whole``, the current interval is omitted, because its count is incomplete.
    There may be at most three lines. A label describes the chart in words, for users who cannot see it. ``unit``: the
    unit of the values, or ``SECONDS``.

    >>> svg = chart("Records", [Line("in", {7200: 4.0})], now_s=7205, step_s=60, unit="records/s")
    >>> "in: at most 4 records/s, now 4" in svg
    True
    """
    last = (int(now_s // step_s) - is_whole) * step_s
    times = range(last - SPAN_S + step_s, last + 1, step_s)
    most = max((value for line in lines for at_s, value in line.values.items() if at_s in times), default=0.0)
    top = _round_up_s(most) if unit == SECONDS else rounded_up(most)
    parts = [_grid(top, unit)]
    for number, line in enumerate(lines):
        parts += [drawn_line(number, [(x, value / top) for x, value in piece]) for piece in _pieces(line, times)]
    said = "; ".join(_said(line, times, unit) for line in lines)
    legend = Markup("").join(
        Markup('<span class="key key-{}">{}</span> ').format(number, text(line.name))
        for number, line in enumerate(lines)
    )
    return Markup(
        '<figure class="chart"><figcaption>{} {}</figcaption>'
        '<svg viewBox="0 0 {} {}" role="img" aria-label="{}, the last hour. {}">{}</svg></figure>'
    ).format(text(title), legend, WIDTH, HEIGHT, text(title), text(said), Markup("").join(parts))


def _pieces(line: Line, times: range) -> Iterator[list[tuple[float, float]]]:
    """Yield the parts of a line between its gaps. Each point of a part has its horizontal position, from 0 at the left
    to 1 at the right, and its value.
    """
    piece: list[tuple[float, float]] = []
    for place, at_s in enumerate(times):
        value = line.at(at_s, times.step)
        if value is not None:
            piece.append((place / max(1, len(times) - 1), value))
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _said(line: Line, times: range, unit: str) -> str:
    most = max((value for at_s, value in line.values.items() if at_s in times), default=0.0)
    now = line.values.get(times[-1], line.values.get(times[-2], line.at(times[-1], times.step)))
    said = _value(most, unit) if unit == SECONDS else f"{_value(most, unit)} {unit}"
    return f"{line.name}: at most {said}, now {'none' if now is None else _value(now, unit)}"


def _grid(top: float, unit: str) -> Markup:
    rules = Markup("").join(rule(share, _value(top * share, unit)) for share in (0, 0.5, 1))
    return rules + ends("-60 min", "-30 min", "now")


def _round_up_s(most_s: float) -> float:
    """Return the upper end, in seconds, of an axis on which the longest duration is ``most_s``."""
    return rounded_up(most_s) if most_s <= 100 else next((bound for bound in _LONG_S if bound >= most_s), most_s)


def _value(value: float, unit: str) -> str:
    if unit == SECONDS:
        return duration_text(value) if value else "0"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def bar(share: float, said: str) -> Markup:
    """Return a horizontal bar, filled to a ``share`` from 0 to 1. ``said``: the content in words, for users who cannot
    see the bar.
    """
    width = round(100 * min(1.0, max(0.0, share)), 1)
    return Markup(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<rect class="whole" width="100" height="8"/><rect class="part" width="{}" height="8"/></svg>'
    ).format(text(said), width)
