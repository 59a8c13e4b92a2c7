"""Positions in degrees as unit vectors. The straight distance of two vectors (the chord) is compared instead of the
distance on the sphere, because one increases with the other.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from asc.spatial.shape import EARTH_RADIUS_M

_Floats = npt.NDArray[np.float64]

HALF_EARTH_M = math.pi * EARTH_RADIUS_M
"""The largest distance of two positions on the sphere."""


def unit_vectors(positions: _Floats) -> _Floats:
    """Return the unit vectors, float64[n, 3], of positions, float64[n, 2]: longitude and latitude in degrees.

    >>> unit_vectors(np.array([[0.0, 0.0], [90.0, 0.0]])).round(3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    # Contiguous columns, because the last digit of a sine may depend on the layout of the array in memory.
    lon, lat = (np.radians(np.ascontiguousarray(column)) for column in positions.T)
    across = np.cos(lat)
    return np.column_stack([across * np.cos(lon), across * np.sin(lon), np.sin(lat)])


def chord(distance_m: float) -> float:
    """Return the straight distance, in units of the earth's radius, of two positions that are ``distance_m`` apart on
    the sphere.

    >>> round(chord(6_371_008), 9) == round(2 * math.sin(0.5), 9)
    True
    """
    return 2 * math.sin(distance_m / (2 * EARTH_RADIUS_M))


def position_of(x: float, y: float, z: float) -> tuple[float, float]:
    """Return the longitude and latitude, in degrees, of the direction of a vector of any length.

    >>> position_of(0.0, 2.0, 0.0)
    (90.0, 0.0)
    """
    return math.degrees(math.atan2(y, x)), math.degrees(math.atan2(z, math.hypot(x, y)))


def west_and_east(longitudes: _Floats) -> tuple[float, float]:
    """Return the western and the eastern end of the shortest interval that contains all longitudes. If the interval
    crosses the antimeridian, west > east.

    >>> west_and_east(np.array([179.0, -178.0, 175.0])), west_and_east(np.array([7.5, 5.0]))
    ((175.0, -178.0), (5.0, 7.5))
    """
    ordered = np.sort(longitudes)
    gaps = np.diff(ordered)
    around = ordered[0] + 360 - ordered[-1]
    if not len(gaps) or around >= gaps.max():
        return float(ordered[0]), float(ordered[-1])
    widest = int(np.argmax(gaps))
    return float(ordered[widest + 1]), float(ordered[widest])
