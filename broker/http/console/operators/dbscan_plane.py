"""The coordinates of the drawing of a window. Both axes have the same scale if possible. Longitudes continue beyond 180
degrees, so that a window across the antimeridian is not divided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from broker.http.console.operators.dbscan_window import LastWindow, Values

WIDTH, HEIGHT = 600, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 24, 24, 36
_ACROSS, _UP = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

_LEAST_PIXELS = 24.0
"""The least length of an axis in pixels if both axes have the same scale. If an axis would be shorter, each axis has a
separate scale.
"""

_LEAST_COSINE = 0.02
_ROUND = 360.0


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a drawing. ``low``, ``high``: its least and greatest value. ``begin``: the position of the least
    value, in pixels. ``length``: the pixels from there to the greatest value; negative if values grow towards the top.
    """

    low: float
    high: float
    begin: float
    length: float

    def at(self, value: float) -> float:
        """Return the position in pixels of a value on the axis."""
        # Values are halved first, because the difference of two very large doubles would be infinite.
        half = self.high / 2 - self.low / 2
        share = (value / 2 - self.low / 2) / half if half > 0 else 0.5
        return self.begin + min(1.0, max(0.0, share)) * self.length

    @property
    def unit(self) -> float:
        """Return the number of pixels for a difference of 1 between two values. Return 0 if all values of the axis are
        equal.
        """
        half = self.high / 2 - self.low / 2
        return abs(self.length) / half / 2 if half > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Box:
    """The bounding box of a cluster in the drawing, in pixels: its left upper corner, its width and its height."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Plane:
    """The plane in which the page draws a window of a DBSCAN query.

    ``x``, ``y``: the axes. ``is_equal``: whether both axes have the same scale; for positions, a metre has the same
    length on both axes at the middle latitude. ``is_position``: whether the axes are longitude and latitude. ``west``:
    the longitude at the left end.
    """

    x: Axis
    y: Axis
    is_equal: bool
    is_position: bool
    west: float

    @staticmethod
    def of(last: LastWindow, *, is_position: bool) -> Plane:
        """Return the plane that contains the sampled points of a window, and the centres and boxes of its clusters.
        ``is_position``: whether the points are positions on the earth, given as longitude and latitude.
        """
        places = [values for values, _ in last.window.sample]
        places += [own.center for own in last.clusters if own.center is not None]
        boxes = [own.box for own in last.clusters if own.box is not None]
        everything = [*places, *(corner for box in boxes for corner in box)]
        across, up, west = [own[0] for own in everything], [_second(own) for own in everything], 0.0
        if is_position:
            spans = [_longitudes(low[0], high[0]) for low, high in boxes]
            west = _west([*spans, *((own[0], 0.0) for own in places)])
            across = [_east_of(west, own[0]) for own in places]
            across += [_east_of(west, begin) + part for begin, width in spans for part in (0.0, width)]
        return _plane(across or [0.0], up or [0.0], is_position=is_position, west=west)

    def place(self, values: Values) -> tuple[float, float]:
        """Return the x and y coordinates in pixels of a point. ``values``: the first one or two attributes of the
        point.
        """
        across = _east_of(self.west, values[0]) if self.is_position else values[0]
        return self.x.at(across), self.y.at(_second(values))

    def box(self, low: Values, high: Values) -> Box:
        """Return the box between two corners, enlarged by two pixels on each side. ``low``, ``high``: the least and the
        greatest attributes of the cluster. If the box crosses the antimeridian, the longitude of ``low`` is greater
        than the longitude of ``high``.
        """
        left, right = low[0], high[0]
        if self.is_position:
            begin, width = _longitudes(low[0], high[0])
            left = _east_of(self.west, begin)
            right = left + width
        x1, x2, y1, y2 = self.x.at(left), self.x.at(right), self.y.at(_second(high)), self.y.at(_second(low))
        return Box(min(x1, x2) - 2, min(y1, y2) - 2, abs(x2 - x1) + 4, abs(y2 - y1) + 4)


def wrapped_longitude(value: float) -> float:
    """Return a longitude of the plane as a number from -180 to 180.

    >>> wrapped_longitude(190.0), wrapped_longitude(180.0), wrapped_longitude(7.5)
    (-170.0, 180.0, 7.5)
    """
    return value if -_ROUND / 2 <= value <= _ROUND / 2 else (value + _ROUND / 2) % _ROUND - _ROUND / 2


def _plane(across: Sequence[float], up: Sequence[float], *, is_position: bool, west: float) -> Plane:
    x1, x2, y1, y2 = min(across), max(across), min(up), max(up)
    middle = math.radians(y1 / 2 + y2 / 2)
    factor = max(_LEAST_COSINE, math.cos(middle)) if is_position else 1.0
    wide, high = (x2 / 2 - x1 / 2) * factor, y2 / 2 - y1 / 2
    width, height = _lengths(wide, high)
    is_equal = is_position or min(wide, high) <= 0 or min(width, height) >= _LEAST_PIXELS
    if not is_equal:
        width, height = float(_ACROSS), float(_UP)
    x = Axis(x1, x2, _LEFT + (_ACROSS - width) / 2, width)
    y = Axis(y1, y2, HEIGHT - _BOTTOM - (_UP - height) / 2, -height)
    return Plane(x, y, is_equal, is_position, west)


def _lengths(wide: float, high: float) -> tuple[float, float]:
    """Return the width and the height in pixels of a drawing of ``wide`` by ``high`` units of the data. Both axes have
    the same scale: the largest with which the drawing fits.
    """
    if wide <= 0 and high <= 0:
        return 0.0, 0.0
    if wide / _ACROSS >= high / _UP:
        return float(_ACROSS), min(float(_UP), _ACROSS * (high / wide))
    return min(float(_ACROSS), _UP * (wide / high)), float(_UP)


def _longitudes(west: float, east: float) -> tuple[float, float]:
    """Return the beginning of an interval of longitudes, and its extent in degrees. If the interval crosses the
    antimeridian, ``west`` is greater than ``east``.
    """
    return west, east - west + (_ROUND if east < west else 0.0)


def _east_of(west: float, longitude: float) -> float:
    """Return a longitude plus a multiple of 360, so that it is at least ``west`` and less than ``west`` + 360."""
    return west + (longitude - west) % _ROUND


def _west(spans: Sequence[tuple[float, float]]) -> float:
    """Return the longitude at the left end of the drawing: the eastern end of the widest interval of longitudes that
    contains no point and no box.

    ``spans``: the intervals of longitudes with points or boxes, each with its western end and its extent in degrees.

    >>> _west([(170.0, 15.0), (-178.0, 0.0)]), _west([(5.0, 2.0), (-3.0, 0.0)])
    (170.0, -3.0)
    """
    if not spans:
        return 0.0
    ordered = sorted(spans)
    reached = max(begin + width for begin, width in ordered) - _ROUND
    widest, west = -math.inf, ordered[0][0]
    for begin, width in ordered:
        if begin - reached > widest:
            widest, west = begin - reached, begin
        reached = max(reached, begin + width)
    return west


def _second(values: Values) -> float:
    """Return the second attribute of a point. If there is only one attribute, return 0, so that all points lie on a
    horizontal line.
    """
    return values[1] if len(values) > 1 else 0.0
