"""The minimum and the maximum of values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.frozen import frozen
from asc.keys.float_bits import SIGN_MASK
from asc.keys.key_kernels import float_keys
from asc.operators.cube.keys import Key
from asc.operators.cube.states.kernels import greatest, least, merge_greatest, merge_least
from asc.operators.cube.states.memory import nulls_of, numbers, stored
from asc.operators.cube.states.state import Places, Rows, State, Values, merged_values

_SHORT_DIGITS = 18
_LEAST, _GREATEST = np.int64(-(2**63)), np.int64(2**63 - 1)


class Extreme(State):
    """The minimum or maximum of values, in Spark's order: NaN above infinity, -0.0 equal to 0.0, texts by their bytes.

    A state has the type of the values. Values of a fixed width are compared as int64 keys. Other values are compared by
    their ranks among the distinct values of a batch.
    """

    def __init__(self, data_type: pa.DataType, *, is_max: bool) -> None:
        self.type = self.storage = data_type
        self._is_max = is_max

    def values(self, column: pa.Array) -> Values:
        """Return an int64 key for each value. Keys have the order of the values."""
        kind, types = self.type, pa.types
        nulls = nulls_of(column)
        if types.is_floating(kind):
            keys = np.empty(len(column), dtype=np.int64)
            float_keys(numbers(column.cast(pa.float64()), np.float64), keys)
            return Values(frozen(keys), nulls)
        if types.is_date(kind):
            column = column.cast(pa.int32())
        if types.is_integer(kind) or types.is_boolean(kind) or types.is_temporal(kind):
            return Values(numbers(column.cast(pa.int64()), np.int64), nulls)
        if types.is_decimal(kind) and kind.precision <= _SHORT_DIGITS:
            low = np.ascontiguousarray(numbers(column, np.uint64, 2)[:, 0]).view(np.int64)
            return Values(frozen(low), nulls)
        key = Key.of(column)
        ranks = key.codes.astype(np.int64) - 1
        return Values(frozen(ranks), nulls, key.dictionary)

    def fold(self, values: Values | None, rows: Rows, cells: Places, count: int) -> pa.Array:
        """Return the minimum or maximum of each cell."""
        assert values is not None
        found, has_value = np.full(count, _LEAST if self._is_max else _GREATEST), np.zeros(count, dtype=np.bool_)
        find = greatest if self._is_max else least
        find(values.numbers, values.nulls, rows, cells, found, has_value)
        return self._of_found(found, has_value, values.dictionary)

    def merge(self, states: pa.Array, cells: Places, count: int) -> pa.Array:
        """Return the minimum or maximum of the states of each cell."""
        values = self._native(states)
        found = np.full(count, _LEAST if self._is_max else _GREATEST)
        (merge_greatest if self._is_max else merge_least)(values.numbers, values.nulls, cells, found)
        return self._of_found(found, merged_values(values.nulls, cells, count), values.dictionary)

    def _native(self, states: pa.Array) -> Values:
        """Return the keys of states. The keys of states with a type of 32 bits, int or date, are their memory, without
        a copy.
        """
        types = pa.types
        if types.is_int32(self.type) or types.is_date32(self.type):
            return Values(numbers(states, np.int32), nulls_of(states))
        return self.values(states)

    def answer(self, states: pa.Array) -> pa.Array:
        """Return the states unchanged: the state of a cell is its minimum or maximum."""
        return states

    def _of_found(
        self, found: npt.NDArray[np.int64], has_value: npt.NDArray[np.bool_], dictionary: pa.Array | None
    ) -> pa.Array:
        # The data of a NULL state are zero, so that equal states have equal bytes.
        found *= has_value
        return self._of_keys(found, has_value, dictionary)

    def _of_keys(
        self, keys: npt.NDArray[np.int64], has_value: npt.NDArray[np.bool_], dictionary: pa.Array | None
    ) -> pa.Array:
        """Return the values that keys represent."""
        kind, types = self.type, pa.types
        if dictionary is not None:
            return dictionary.take(stored(pa.int64(), keys, has_value))
        if types.is_floating(kind):
            floats = np.where(keys >= 0, keys, keys ^ SIGN_MASK).view(np.float64)
            return stored(kind, floats.astype(kind.to_pandas_dtype()), has_value)
        if types.is_decimal(kind):
            return stored(kind, np.column_stack((keys, keys >> 63)), has_value)
        if types.is_boolean(kind):
            return pc.cast(stored(pa.int64(), keys, has_value), kind)
        width = np.int32 if types.is_date(kind) else np.int64 if types.is_timestamp(kind) else kind.to_pandas_dtype()
        return stored(kind, keys.astype(width), has_value)
