"""The errors of bins over the records that a cube has counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from asc.operators.cube.answer_memory import Reserve, unbounded
from asc.operators.cube.computed.bin_edges import BinErrors
from asc.operators.cube.computed.bins import BinDimension
from asc.operators.cube.json_values import plain_values
from asc.operators.cube.layout import Layout
from asc.operators.cube.part import Part
from asc.operators.cube.question import Question
from asc.operators.cube.selection import selected
from asc.operators.cube.source import needed
from asc.operators.cube.states.moments import Moments
from asc.operators.cube.states.statistic import Statistic


@dataclass(frozen=True, slots=True)
class BinCounts:
    """The counted records of one dimension of bins.

    ``values``: the number of finite values in bins without infinities or NaN. ``not_finite``: the number of values in
    bins with an infinity or NaN, which the errors exclude. ``errors``: the errors over ``values``; None if there is no
    value. ``rows``: the lower edge of each bin with records, and its number of values.
    """

    values: int
    not_finite: int
    errors: BinErrors | None
    rows: tuple[tuple[float, int], ...]

    def plain(self) -> dict[str, Any]:
        """Return the counts as a JSON object."""
        lows = plain_values(_array([low for low, _ in self.rows]))
        return {
            "values": self.values,
            "not_finite": self.not_finite,
            "errors": None if self.errors is None else self.errors.plain(),
            "bins": [{"low": low, "values": count} for low, (_, count) in zip(lows, self.rows, strict=True)],
        }


def bin_counts(
    layout: Layout, dimension: BinDimension, parts: Sequence[Part], question: Question, reserve: Reserve = unbounded
) -> BinCounts:
    """Return the counted records of a dimension of bins, computed from the co-moments in each cell.

    ``question``: a question for the finest level of the dimension, without other dimensions. ``parts``, ``reserve``: as
    in :func:`asc.operators.cube.answer.answer`.
    """
    (cuboid,) = question.cuboids
    columns = layout.definition.dimensions.columns(cuboid)
    cells = needed(layout, selected(parts, question, reserve), question, reserve).rolled_up(layout, columns, reserve)
    place = next(i for i, slot in enumerate(layout.slots) if slot.key == ("moments", dimension.sql))
    moments, states = layout.slots[place].state, cells.cells.states[place]
    assert isinstance(moments, Moments)
    counts = moments.answer(states).to_numpy()
    squares = _numbers(Statistic("regr_sxx", 0, 0), moments, states)
    means = _numbers(Statistic("regr_avgx", 0, 0), moments, states)
    key = cells.cells.keys[-1]
    lows = np.append(np.nan, key.dictionary.to_numpy())[key.codes]
    has_low = key.codes > 0
    is_usable = (counts > 0) & np.isfinite(squares) & np.isfinite(means)
    rows = tuple(zip(lows[has_low].tolist(), counts[has_low].tolist(), strict=True))
    return BinCounts(
        int(counts[is_usable].sum()),
        int(counts[(counts > 0) & ~is_usable].sum()),
        _errors(dimension, counts[is_usable], squares[is_usable], means[is_usable]),
        rows,
    )


def _errors(dimension: BinDimension, counts: Any, squares: Any, means: Any) -> BinErrors | None:
    """Return the errors of bins. ``counts``, ``squares``, ``means``: of each bin the number of values, the sum of their
    squared deviations from their mean, and the mean.
    """
    total = int(counts.sum())
    if not total:
        return None
    within = math.fsum(squares)
    mean = math.fsum(counts * means) / total
    between = math.fsum(counts * (means - mean) ** 2)
    sample = dimension.sample
    ends = (math.nan, math.nan) if sample is None else (sample.least, sample.greatest)
    return BinErrors.of(math.sqrt(within / total), *ends, math.sqrt((within + between) / total))


def _numbers(statistic: Statistic, moments: Moments, states: Any) -> Any:
    return statistic.of(moments, states).to_numpy(zero_copy_only=False)


def _array(values: Sequence[float]) -> pa.Array:
    return pa.array(values, pa.float64())
