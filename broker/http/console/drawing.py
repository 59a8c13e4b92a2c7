"""Elements of SVG charts: the coordinates of the plotting area, horizontal rules, labels, lines and shaded areas."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT = 600, 140
_LEFT, _RIGHT, _BOTTOM, _TOP = 76, 8, 22, 10

Points = Sequence[tuple[float, float]]
"""The positions of points in the plotting area. Each has a share of the width, from 0 at the left to 1, and a share of
the height, from 0 at the bottom to 1.
"""


def x_of(share: float) -> float:
    """Return the x coordinate in the SVG for a position that is given as a share of the width."""
    return _LEFT + share * (WIDTH - _RIGHT - _LEFT)


def y_of(share: float) -> float:
    """Return the y coordinate in the SVG for a position that is given as a share of the height."""
    return HEIGHT - _BOTTOM - share * (HEIGHT - _BOTTOM - _TOP)


def line(number: int, points: Points) -> Markup:
    """Return a line through points, or a circle for a single point. ``number``: the number of the line's colour."""
    places = [(x_of(x), y_of(y)) for x, y in points]
    if len(places) == 1:
        return Markup('<circle class="point point-{}" cx="{:.1f}" cy="{:.1f}" r="2.5"/>').format(number, *places[0])
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return Markup('<polyline class="line line-{}" points="{}"/>').format(number, text)


def rule(share: float, said: str) -> Markup:
    """Return a horizontal rule at a share of the height, with the label ``said`` at its left."""
    return Markup(
        '<line class="rule" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text class="axis" x="{}" y="{}" text-anchor="end">{}</text>'
    ).format(_LEFT, WIDTH - _RIGHT, y_of(share), y_of(share), _LEFT - 6, y_of(share) + 4, said)


def ends(first: str, middle: str, last: str) -> Markup:
    """Return the three labels of the time axis: at its beginning, in the middle and at its end."""
    labels = ((0.0, "start", first), (0.5, "middle", middle), (1.0, "end", last))
    return Markup("").join(
        Markup('<text class="axis" x="{}" y="{}" text-anchor="{}">{}</text>').format(x_of(at), HEIGHT - 4, anchor, said)
        for at, anchor, said in labels
    )


def span(first: float, end: float) -> Markup:
    """Return a shaded area between two horizontal positions, as shares of the width."""
    return Markup('<rect class="missing" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>').format(
        x_of(first), y_of(1), max(1.0, x_of(end) - x_of(first)), y_of(0) - y_of(1)
    )


def rounded_up(most: float) -> float:
    """Return the least number that is not below ``most`` and is 1, 2 or 5 times a power of ten. Return 1 for values
    below 1e-9.
    """
    if most < 1e-9:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= most * (1 - 1e-9))
