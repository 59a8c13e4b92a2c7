"""Linear regression of one column on several others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from asc.operators.cube.states.memory import stored
from asc.operators.cube.states.moment_answer_kernels import LINE_WORDS, LINES
from asc.operators.cube.states.moments import Moments
from asc.operators.cube.states.regression_kernels import regressions


@dataclass(frozen=True, slots=True)
class Regression:
    """The regression of the first column on the others: intercept, coefficients and coefficient of determination.

    ``columns``: the numbers of the columns in the state, first the column of y. ``names``: the texts of the columns
    other than y, in the same order.
    """

    columns: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def type(self) -> pa.DataType:
        """Return the Arrow type of the answers."""
        coefficients = pa.struct([(name, pa.float64()) for name in self.names])
        own = {"count": pa.int64(), "intercept": pa.float64(), "coefficients": coefficients, "r2": pa.float64()}
        return pa.struct(own)

    def of(self, moments: Moments, states: pa.Array) -> pa.Array:
        """Return the regression of each state. It is NULL if the columns other than y are linearly dependent, or if one
        of them has equal values. If a value is infinite or NaN, the coefficients are NaN.

        Cost for m columns: m * m central products of each state, and m**3 / 6 multiplications.
        """
        size, count = len(self.columns), len(states)
        values, has_value = np.zeros((count, size + 1), dtype=np.float64), np.zeros((count, 2), dtype=np.bool_)
        work, factor = np.empty((LINES, LINE_WORDS), dtype=np.int64), np.empty((size, size), dtype=np.float64)
        chosen = np.array(self.columns, dtype=np.int64)
        regressions(moments.packed(states), moments.columns, chosen, work, factor, values, has_value)
        values[~has_value[:, 0]] = 0.0
        values[~has_value[:, 1], size] = 0.0
        by_column = [stored(pa.float64(), np.ascontiguousarray(column)) for column in values[:, :size].T]
        fields = list(self.type)
        coefficients = pa.StructArray.from_arrays(by_column[1:], fields=list(fields[2].type))
        share = stored(pa.float64(), np.ascontiguousarray(values[:, size]), np.ascontiguousarray(has_value[:, 1]))
        arrays = [moments.answer(states), by_column[0], coefficients, share]
        return pa.StructArray.from_arrays(arrays, fields=fields, mask=pa.array(~has_value[:, 0]))
