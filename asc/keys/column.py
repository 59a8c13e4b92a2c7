"""Arrow columns as int64 keys and NULL masks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import PlanError
from asc.keys.attribute import PAttribute
from asc.keys.buffers import Mask, fixed_width, null_mask
from asc.keys.dictionary import Dictionary
from asc.keys.grid import Keys
from asc.keys.key_space import KeySpace

NO_CONSTANTS = Dictionary.of(())

_LOOKED_AT = 256
"""The first rows, which decide whether values repeat."""

_MOST_DIFFERENT = 0.75
"""The share of different values among them from which on nothing would be gained."""

_WORTH_ROWS = 1_024
"""Of a batch: of fewer rows, to find the repeated ones takes longer than to look all values up."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The values of one p-attribute over a batch; they become keys slice by slice.

    ``values`` can be read by the ``space`` of the p-attribute's type, or are dictionary-encoded, and then the different
    values have become keys once (``value_keys``, ``value_nulls``). Byte strings that repeat are encoded for that: to
    find them equal takes a tenth of finding their place among the constants. Cost: no copy of the values; of what is
    encoded, 4 bytes a row and each different value once.
    """

    space: KeySpace
    dictionary: Dictionary
    values: pa.Array
    value_keys: Keys | None = None
    value_nulls: Mask | None = None

    def keys(self, start: int, stop: int, out: Keys) -> Mask | None:
        """Write the keys of rows ``start`` to ``stop`` into ``out`` int64[stop - start]; the mask of NULLs, if any.

        The key of a NULL is arbitrary.
        """
        part = self.values.slice(start, stop - start)
        nulls = null_mask(part)
        if self.value_keys is None:
            self.space.write(part, self.dictionary, out)
            return nulls
        if not len(self.value_keys):
            return np.ones(len(part), dtype=np.bool_)
        indices = _indices(part, nulls)
        np.take(self.value_keys, indices, out=out)
        return self._with_values(nulls, indices)

    def scalar(self, row: int) -> pa.Scalar:
        """Return the value of a row, NULL where its different value is."""
        found = self.values[row]
        return found.value if isinstance(found, pa.DictionaryScalar) else found

    def nulls(self, start: int, stop: int) -> Mask | None:
        """Return the mask of NULLs of rows ``start`` to ``stop``, if any."""
        part = self.values.slice(start, stop - start)
        nulls = null_mask(part)
        return nulls if self.value_nulls is None else self._with_values(nulls, _indices(part, nulls))

    def _with_values(self, nulls: Mask | None, indices: npt.NDArray[Any]) -> Mask | None:
        """Return the mask of NULLs where some of the different values are NULL as well."""
        if self.value_nulls is None:
            return nulls
        among: Mask = self.value_nulls[indices]
        return among if nulls is None else nulls | among


def column(attribute: PAttribute, dictionary: Dictionary, values: pa.Array | pa.ChunkedArray) -> Column:
    """Return the column of a p-attribute from any array of its type: chunked, sliced, dictionary-encoded, of a large or
    view type.

    Raises PlanError for an array of another type.
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    encoded = pa.types.is_dictionary(values.type)
    space, different = attribute.space, values.dictionary if encoded else values
    readable = space.readable(different)
    if readable is None:
        raise PlanError(
            f"column of p-attribute {attribute.sql} has type", str(different.type), f"expected {attribute.type}"
        )
    if not encoded and space.labelled and not attribute.parts and len(readable) >= _WORTH_ROWS and _repeats(readable):
        values, encoded = readable.dictionary_encode(), True
        readable = values.dictionary
    if not encoded:
        return Column(space, dictionary, readable)
    keys = np.empty(len(readable), dtype=np.int64)
    if len(readable):
        space.write(readable, dictionary, keys)
    return Column(space, dictionary, values, keys, null_mask(readable))


def _indices(values: pa.Array, nulls: Mask | None) -> npt.NDArray[Any]:
    """Return the indices of dictionary-encoded values, 0 for NULL."""
    indices = fixed_width(values, values.type.index_type.to_pandas_dtype())
    return indices if nulls is None else np.where(nulls, 0, indices)


def _repeats(values: pa.Array) -> bool:
    """Return whether many values are there more than once, by the first ones; NULLs are none."""
    first = values.slice(0, _LOOKED_AT).drop_null()
    return len(first.unique()) < _MOST_DIFFERENT * len(first)
