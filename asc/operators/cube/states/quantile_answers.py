"""Answers from sketches of quantiles. The bounds of an answer hold for 99 % of all sketches, also after merges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.answered import bounded_type
from asc.operators.cube.states.quantile_kernels import densities, read_sketch
from asc.operators.cube.states.quantiles import Quantiles

CONFIDENCE = 0.99
"""The confidence of the error bound that the library states for a rank."""
_EXACT = 1.0
"""The confidence of an answer from a sketch that contains all values."""

QUANTILE_TYPE = bounded_type(pa.float64(), rank_error=pa.float64())
"""The type of a quantile. ``rank_error``: the bound of the difference between the value's rank and the
requested rank.
"""
RANK_TYPE = bounded_type(pa.float64())
LIST_TYPE = pa.list_(RANK_TYPE)
SUMMARY_TYPE = bounded_type(pa.float64(), rank_error=pa.float64(), count=pa.int64(), min=pa.float64(), max=pa.float64())
"""The type of the answer of the measure itself: the median, and the exact number, minimum and maximum of values."""

_SILVERMAN, _NORMAL_QUARTILES = 0.9, 1.34
"""The factor of Silverman's rule, and the distance between the quartiles of a normal distribution, in standard
deviations.
"""

_Row = dict[str, Any]


def quantiles(state: Quantiles, rank: float, states: pa.Array) -> pa.Array:
    """Return for each cell the least value whose rank is at least ``rank``, with the values at the lower and upper
    bound of the rank.
    """
    rows = [None if sketch is None else _quantile(sketch, rank) for sketch in state.sketches(states)]
    return pa.array(rows, QUANTILE_TYPE)


def ranks(state: Quantiles, value: float, states: pa.Array) -> pa.Array:
    """Return the share of each cell's values that are at most ``value``."""
    rows = [None if sketch is None else _rank(sketch, value) for sketch in state.sketches(states)]
    return pa.array(rows, RANK_TYPE)


def shares(state: Quantiles, values: Sequence[float], states: pa.Array) -> pa.Array:
    """Return for each cell the shares of its values that are at most each of ``values``."""
    return _lists(state, states, lambda sketch: [_rank(sketch, value) for value in values])


def masses(state: Quantiles, values: Sequence[float], states: pa.Array) -> pa.Array:
    """Return for each cell the share of its values in each interval between ``values``, which ascend. An interval
    contains its upper end. The first one has no lower end, and the last one no upper end.
    """

    def rows(sketch: Any) -> list[_Row]:
        bounds = np.array([0.0, *(_rank_of(sketch, value) for value in values), 1.0])
        error = sketch.normalized_rank_error(True) if sketch.is_estimation_mode() else 0.0
        return [
            _row(share, share - error, share + error, error, least=0.0, most=1.0) for share in np.diff(bounds).tolist()
        ]

    return _lists(state, states, rows)


def density(state: Quantiles, values: Sequence[float], states: pa.Array) -> pa.Array:
    """Return for each cell the density of its values at each of ``values``, estimated with Gaussian kernels of
    Silverman's width.

    The bounds contain the density that all values would have with the same width. A cell is NULL if half of its values
    are equal, so that the width is 0, or if its sketch contains an infinite value.
    """
    stored = state.checked(states)
    points = frozen(np.array(values, dtype=np.float64))
    items, item_bytes = state.item_memory()
    weights = np.empty(len(items), dtype=np.float64)
    lists: list[list[_Row] | None] = []
    for place, sketch in enumerate(state.sketches(states)):
        count = read_sketch(stored, place, items, item_bytes, weights)
        width = 0.0 if sketch is None else _width(sketch, items[:count], weights[:count])
        if not width > 0.0:
            lists.append(None)
            continue
        heights = np.empty(len(points), dtype=np.float64)
        densities(items[:count], weights[:count], points, width, heights)
        # An error of the rank shifts the mean of the kernels by at most the error times the kernel's total variation.
        error = _error(sketch) * 2.0 / (width * np.sqrt(2.0 * np.pi))
        lists.append([_row(height, height - error, height + error, error, least=0.0) for height in heights.tolist()])
    return pa.array(lists, LIST_TYPE)


def summaries(state: Quantiles, states: pa.Array) -> pa.Array:
    """Return for each cell the median, and the exact number, minimum and maximum of its values."""
    rows = [
        None
        if sketch is None
        else {**_quantile(sketch, 0.5), "count": sketch.n, "min": sketch.get_min_value(), "max": sketch.get_max_value()}
        for sketch in state.sketches(states)
    ]
    return pa.array(rows, SUMMARY_TYPE)


def _error(sketch: Any) -> float:
    """Return the error bound of a rank of a sketch; 0 for a sketch that contains all values."""
    return float(sketch.normalized_rank_error(False)) if sketch.is_estimation_mode() else 0.0


def _quantile(sketch: Any, rank: float) -> _Row:
    least, greatest, error = sketch.get_min_value(), sketch.get_max_value(), _error(sketch)
    if rank in (0.0, 1.0):
        value = greatest if rank else least
        return {**_row(value, value, value, 0.0), "rank_error": 0.0}
    low, high = rank - error, rank + error
    estimate, lower, upper = sketch.get_quantiles([rank, max(low, 0.0), min(high, 1.0)], True)
    lower, upper = least if low <= 0.0 else lower, greatest if high >= 1.0 else upper
    return {**_row(estimate, lower, upper, error), "rank_error": error}


def _rank_of(sketch: Any, value: float) -> float:
    """Return the share of values that are at most ``value``. The share is exact if ``value`` is outside the range of
    the values.
    """
    if value < sketch.get_min_value():
        return 0.0
    return 1.0 if value >= sketch.get_max_value() else float(sketch.get_rank(value, True))


def _rank(sketch: Any, value: float) -> _Row:
    rank = _rank_of(sketch, value)
    is_within = sketch.get_min_value() <= value < sketch.get_max_value()
    error = _error(sketch) if is_within else 0.0
    return _row(rank, rank - error, rank + error, error, least=0.0, most=1.0)


def _row(
    estimate: float, low: float, high: float, error: float, *, least: float = -np.inf, most: float = np.inf
) -> _Row:
    confidence = CONFIDENCE if error else _EXACT
    return {"estimate": estimate, "low": max(low, least), "high": min(high, most), "confidence": confidence}


def _width(sketch: Any, items: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> float:
    """Return Silverman's width of a Gaussian kernel; 0 if it is not positive or not finite."""
    total = weights.sum()
    if not np.isfinite(items).all():
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        away = items - (items * (weights / total)).sum()
        spread = float(np.sqrt((away * away * (weights / total)).sum()))
        first, third = sketch.get_quantiles([0.25, 0.75], True)
        width = _SILVERMAN * min(spread, (third - first) / _NORMAL_QUARTILES) * float(total) ** -0.2
    return width if np.isfinite(width) else 0.0


def _lists(state: Quantiles, states: pa.Array, rows: Callable[[Any], list[_Row]]) -> pa.Array:
    lists = [None if sketch is None else rows(sketch) for sketch in state.sketches(states)]
    return pa.array(lists, LIST_TYPE)
