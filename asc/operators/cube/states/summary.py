"""Summaries of columns: the number of complete rows, the mean, the standard deviation, and Chebyshev's bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from asc.operators.cube.answered import bounded_type
from asc.operators.cube.states.moments import Moments
from asc.operators.cube.states.statistic import Statistic

_MEAN, _STDDEV = "mean", "stddev"
DEVIATIONS = 2.0
"""The number of standard deviations to each bound in a summary."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The mean of a column, and the interval of ``deviations`` sample standard deviations around it.

    By Chebyshev's inequality, at most a share of 1 / deviations**2 of the records is outside the interval, whatever the
    distribution is. ``column``: the number of the column in the state.
    """

    column: int
    deviations: float

    @property
    def type(self) -> pa.DataType:
        """Return the Arrow type of the answers."""
        return bounded_type(pa.float64())

    @property
    def confidence(self) -> float:
        """Return the least share of the records that is within the bounds."""
        return 1.0 - 1.0 / self.deviations**2

    def of(self, moments: Moments, states: pa.Array) -> pa.Array:
        """Return the bounds of each state: NULL for a state without records. With one record, there is no sample
        deviation, so that ``low`` and ``high`` are NULL.
        """
        mean, stddev = (Statistic(own, self.column, self.column).of(moments, states) for own in (_MEAN, _STDDEV))
        reach = pc.multiply(stddev, self.deviations)
        confidence = pa.array(np.full(len(states), self.confidence))
        arrays = [mean, pc.subtract(mean, reach), pc.add(mean, reach), confidence]
        return pa.StructArray.from_arrays(arrays, fields=list(self.type), mask=pc.is_null(mean))


@dataclass(frozen=True, slots=True)
class Summary:
    """The answer of ``stats``: the number of complete rows, and for each column the mean, the sample standard
    deviation, and the bounds at two deviations from the mean.

    ``columns``: the numbers of the columns in the state. ``names``: the texts of these columns, in the same order.
    """

    columns: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def type(self) -> pa.DataType:
        """Return the Arrow type of the answers."""
        names = (_MEAN, _STDDEV, "low", "high", "confidence")
        column = pa.struct([(name, pa.float64()) for name in names])
        return pa.struct({"count": pa.int64(), "columns": pa.struct([(name, column) for name in self.names])})

    def of(self, moments: Moments, states: pa.Array) -> pa.Array:
        """Return the summary of each state."""
        kind = self.type.field("columns").type
        columns = [self._of_column(moments, states, column) for column in self.columns]
        arrays = [moments.answer(states), pa.StructArray.from_arrays(columns, fields=list(kind))]
        return pa.StructArray.from_arrays(arrays, fields=list(self.type))

    def _of_column(self, moments: Moments, states: pa.Array, column: int) -> pa.Array:
        mean, low, high, confidence = Bounds(column, DEVIATIONS).of(moments, states).flatten()
        stddev = Statistic(_STDDEV, column, column).of(moments, states)
        fields = list(self.type.field("columns").type.field(0).type)
        return pa.StructArray.from_arrays([mean, stddev, low, high, confidence], fields=fields, mask=pc.is_null(mean))
