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
    """The values of an expression over a batch, in the form that the kernels of one class of states read.

    ``numbers``: one array element for each value. ``nulls`` bool[values]: which values are NULL; empty if no value is
    NULL. ``dictionary``: the dictionary in which ``numbers`` are ranks; None if ``numbers`` are not ranks.
    ``magnitude``: an upper bound of the absolute values of integers; 0 if it is not computed.
    """

    numbers: npt.NDArray[Any]
    nulls: npt.NDArray[np.bool_]
    dictionary: pa.Array | None = None
    magnitude: int = 0


def merged_values(nulls: npt.NDArray[np.bool_], cells: Places, count: int) -> npt.NDArray[np.bool_]:
    """Return bool[cells]: whether a cell has a state that is not NULL. If there are states, each cell must have at
    least one state.
    """
    if len(cells) and not len(nulls):
        return np.ones(count, dtype=np.bool_)
    has_value = np.zeros(count, dtype=np.bool_)
    mark_values(nulls, cells, has_value)
    return has_value


class State(ABC):
    """The partial values of one measure, and the operations on them. An Arrow array contains one state for each cell.

    Invariant: ``merge`` of the arrays of ``fold(A)`` and ``fold(B)`` has the bytes of ``fold(A then B)``, for every
    division of the records. Exceptions: sums of doubles agree within their error bound, and the answers of sketches
    within the bounds that they state. A cell without a value has the state NULL, and the data of a NULL are zero.
    """

    storage: pa.DataType
    """The Arrow type of a state."""
    type: pa.DataType
    """The Arrow type of the measure's values in an answer."""
    takes_values: ClassVar[bool] = True
    """True if the state is computed from the values of an expression, False if it counts records."""

    @abstractmethod
    def values(self, column: pa.Array) -> Values:
        """Return the values of an expression in the form that :meth:`fold` reads. The form depends only on the class of
        the state, so that all states of one class over the expression share the values.
        """

    def together(self, columns: Sequence[Values]) -> Values:
        """Combine the values of several columns into rows, in the form that :meth:`fold` reads. A state of one column
        has no rows, and raises NotImplementedError.
        """
        raise NotImplementedError(f"{type(self).__name__} has one column, and not {len(columns)}")

    @abstractmethod
    def fold(self, values: Values | None, rows: Rows, cells: Places, count: int) -> pa.Array:
        """Return the states of ``count`` cells. ``values``: the values of the batch; None if the state counts records.
        ``rows``: the indices of the values to fold. ``cells``: the cell of each of these values.
        """

    @abstractmethod
    def merge(self, states: pa.Array, cells: Places, count: int) -> pa.Array:
        """Return the states of ``count`` cells. ``cells``: the cell of each element of ``states``. The states of one
        cell are merged in their order.
        """

    @abstractmethod
    def answer(self, states: pa.Array) -> pa.Array:
        """Return the value of the measure for each state."""
