"""The search for all pairs of positions on the earth that are within a distance of each other."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from asc.spatial.shape import EARTH_RADIUS_M, distance_sphere_m

_Floats = npt.NDArray[np.float64]
_Pairs = npt.NDArray[np.int64]

_DOUBT = 1e-9
"""A bound on the error of a distance that NumPy computes: this number of metres, plus this share of the distance. A
distance that is closer than this bound to the limit is computed again with Python's ``math``.
"""

_ULPS = 1e-12
"""A relative error bound for rounding to millimetres: far above the differences between the distances that NumPy and
``math`` compute.
"""

_DOUBTFUL_CHORD = 1e-14
"""A length, in units of the earth's radius, that is above the rounding error of the chord (straight distance) between
two unit vectors.
"""

_PIECE = 1 << 20
"""The number of pairs whose distances are computed at once."""


def near_pairs(x: _Floats, y: _Floats, distance_m: float, pairs_max: int) -> _Pairs | None:
    """Return the pairs of positions that are at most ``distance_m`` apart by haversine. ``x``: the longitudes in
    degrees. ``y``: the latitudes in degrees.

    The pairs are int64[pairs, 2] of indices, the smaller index first, in ascending order. They agree with
    :func:`asc.spatial.shape.distance_sphere_m` to the last bit. Return None if more than ``pairs_max`` pairs are within
    a distance that exceeds ``distance_m`` by the error bound. Cost: n log n for a k-d tree of unit vectors, and a
    microsecond a pair. If there are too many pairs, the cost is some ten microseconds more for each allowed pair.

    >>> near_pairs(np.array([0.0, 1.0, 180.0]), np.array([0.0, 0.0, 90.0]), 120_000, 10).tolist()
    [[0, 1]]
    """
    from scipy.spatial import cKDTree

    if len(x) < 2:
        return np.empty((0, 2), dtype=np.int64)
    lon, lat = np.radians(x), np.radians(y)
    across = np.cos(lat)
    vectors = np.column_stack([across * np.cos(lon), across * np.sin(lon), np.sin(lat)])
    # No two positions are farther apart than half a circle.
    angle = min(distance_m / EARTH_RADIUS_M, math.pi)
    chord = 2 * math.sin(angle / 2) * (1 + _DOUBT) + _DOUBTFUL_CHORD
    # With far too many pairs, counting by the tree is slow: it compares all positions of nodes that are partly near.
    if _least_pairs(vectors, chord) > pairs_max:
        return None
    tree = cKDTree(vectors)
    # The tree counts each pair twice, and each position with itself.
    if (int(tree.count_neighbors(tree, chord)) - len(x)) // 2 > pairs_max:
        return None
    found = tree.query_pairs(chord, output_type="ndarray").astype(np.int64)
    kept = [_within(x, y, found[low : low + _PIECE], distance_m) for low in range(0, len(found), _PIECE)]
    pairs = np.concatenate([found[:0], *kept])
    ordered: _Pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return ordered


def _least_pairs(vectors: _Floats, chord: float) -> int:
    """Return a lower bound on the number of pairs of unit vectors that are at most ``chord`` apart.

    The bound is the number of pairs of vectors that are in the same cube of a grid. The diagonal of a cube is at most
    ``chord``. The number of all pairs is at most some hundred times the sum of the bound and the number of vectors.
    Cost: a sort.
    """
    cubes = np.floor(vectors * (math.sqrt(3) * (1 + _DOUBT) / chord))
    cubes = cubes[np.lexsort(cubes.T)]
    starts = np.flatnonzero(np.append(True, (cubes[1:] != cubes[:-1]).any(axis=1)))
    together = np.diff(np.append(starts, len(cubes)))
    return int((together * (together - 1) // 2).sum())


def _within(x: _Floats, y: _Floats, pairs: _Pairs, distance_m: float) -> _Pairs:
    far_m, is_doubtful = _distances_m(x, y, pairs)
    is_near = far_m <= distance_m
    for place in np.flatnonzero((np.abs(far_m - distance_m) <= _DOUBT * (1 + distance_m)) | is_doubtful).tolist():
        is_near[place] = _distance_m(x, y, pairs[place]) <= distance_m
    kept: _Pairs = pairs[is_near]
    return kept


def millimetres_m(x: _Floats, y: _Floats, pairs: _Pairs) -> list[float]:
    """Return the distance of each pair of positions in metres, rounded to millimetres. ``pairs``: the indices of the
    positions.

    Each distance equals ``round`` of :func:`asc.spatial.shape.distance_sphere_m`. Cost: .1 us a pair. A pair whose
    rounding is in doubt costs 2 us more; at the largest distances this is one pair in fifty.

    >>> millimetres_m(np.array([0.0, 1.0]), np.array([0.0, 0.0]), np.array([[0, 1]]))
    [111195.066]
    """
    far_m, is_doubtful = _distances_m(x, y, pairs)
    millimetres = 1_000 * far_m
    found: list[float] = (np.rint(millimetres) / 1_000).tolist()
    # If the millimetres are so near to a half, rounding depends on the last digits of the distance.
    is_doubtful |= np.abs(millimetres - np.floor(millimetres) - 0.5) <= 1_000 * (_DOUBT + _ULPS * far_m)
    for place in np.flatnonzero(is_doubtful).tolist():
        found[place] = round(_distance_m(x, y, pairs[place]), 3)
    return found


def _distances_m(x: _Floats, y: _Floats, pairs: _Pairs) -> tuple[_Floats, npt.NDArray[np.bool_]]:
    """Return the distance of each pair in metres. Also return a mask that is true for pairs of nearly opposite points
    of the earth, for which the arc sine magnifies errors.

    For the other pairs the distance is exact within ``_DOUBT``.
    """
    first, second = pairs[:, 0], pairs[:, 1]
    low, high = np.radians(y[first]), np.radians(y[second])
    across, up = np.sin(np.radians(x[second] - x[first]) / 2), np.sin((high - low) / 2)
    half = up * up + np.cos(low) * np.cos(high) * across * across
    return 2 * EARTH_RADIUS_M * np.arcsin(np.minimum(1.0, np.sqrt(half))), half > 0.999


def _distance_m(x: _Floats, y: _Floats, pair: npt.NDArray[np.int64]) -> float:
    one, other = pair
    return distance_sphere_m(*map(float, (x[one], y[one], x[other], y[other])))
