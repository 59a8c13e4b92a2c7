"""Summaries of several columns: the number of complete rows, and the mean and spread of each column."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from asc.operators.cube.states.moments import Moments
from asc.operators.cube.states.statistic import Statistic

_MEAN, _STDDEV = "regr_avgx", "stddev_samp"


@dataclass(frozen=True, slots=True)
class Summary:
    """The answer of ``stats``: the number of complete rows, and by column the mean, the sample standard deviation, and
    the interval of two deviations around the mean.

    ``columns``: the numbers of the columns in the state. ``names``: their texts, in the same order.
    """

    columns: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def type(self) -> pa.DataType:
        """Return the Arrow type of the answers."""
        column = pa.struct({"mean": pa.float64(), "stddev": pa.float64()})
        return pa.struct({"count": pa.int64(), "columns": pa.struct([(name, column) for name in self.names])})

    def of(self, moments: Moments, states: pa.Array) -> pa.Array:
        """Return the summary of each state."""
        columns = []
        for column in self.columns:
            mean, stddev = (Statistic(function, column, column).of(moments, states) for function in (_MEAN, _STDDEV))
            columns.append(pa.StructArray.from_arrays([mean, stddev], ["mean", "stddev"]))
        return pa.StructArray.from_arrays(
            [moments.answer(states), pa.StructArray.from_arrays(columns, fields=list(self.type.field("columns").type))],
            fields=list(self.type),
        )
