"""States: the mergeable partial values of measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.operators.cube.states.kernels import mark_values

Rows: TypeAlias = npt.NDArray[np.int64]
Places: TypeAlias = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of an expression over a batch, in the form that the kernels of one kind of state read.

    ``numbers``: one array element for each value. ``nulls`` bool[values]: which values are NULL; empty if there is no
    NULL. ``dictionary``: the dictionary in which ``numbers`` are ranks; None if ``numbers`` are not ranks.
    ``magnitude``: a bound on the absolute value, for integers.
    """

    numbers: npt.NDArray[Any]
    nulls: npt.NDArray[np.bool_]
    dictionary: pa.Array | None = None
    magnitude: int = 0


def merged_values(nulls: npt.NDArray[np.bool_], cells: Places, count: int) -> npt.NDArray[np.bool_]:
    """Return for each cell whether any of its states has a value, bool[cells]. If there are states, each cell must have
    at least one state.
    """
    if len(cells) and not len(nulls):
        return np.ones(count, dtype=np.bool_)
    has_value = np.zeros(count, dtype=np.bool_)
    mark_values(nulls, cells, has_value)
    return has_value


class State(ABC):
    """The partial values of one measure. An Arrow array holds one element for each cell.

    Invariant: ``merge`` of the arrays of ``fold(A)`` and ``fold(B)`` has the bytes of ``fold(A then B)``, however the
    records are split. Sums of doubles agree within their error bound. The answers of sketches are within the bounds
    that they state. A cell without a value has the state NULL, and the bytes under a NULL are zero.
    """

    storage: pa.DataType
    """The Arrow type of a state."""
    type: pa.DataType
    """The Arrow type of the measure's values in an answer."""
    takes_values: ClassVar[bool] = True
    """True if the state is computed from the values of an expression, False if it counts records."""

    @abstractmethod
    def values(self, column: pa.Array) -> Values:
        """Return the values of an expression in the form that :meth:`fold` reads. They depend only on the class of the
        state, so that all states of a class share them.
        """

    def together(self, columns: Sequence[Values]) -> Values:
        """Return the rows of several columns, in the form that :meth:`fold` reads, from the values of each column. A
        state of one column has no rows.
        """
        raise NotImplementedError(f"{type(self).__name__} has one column, and not {len(columns)}")

    @abstractmethod
    def fold(self, values: Values | None, rows: Rows, cells: Places, count: int) -> pa.Array:
        """Return the states of ``count`` cells. ``rows``: the indices of the values to fold. ``cells``: the cell of
        each of these values.
        """

    @abstractmethod
    def merge(self, states: pa.Array, cells: Places, count: int) -> pa.Array:
        """Return the states of ``count`` cells. ``cells``: the cell of each given state. The given states of a cell are
        merged in order.
        """

    @abstractmethod
    def answer(self, states: pa.Array) -> pa.Array:
        """Return the value of the measure for each state."""
