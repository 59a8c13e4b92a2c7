"""Columns of Arrow values, converted to int64 keys and masks of NULLs."""

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
"""The number of values at the start of a batch from which the share of distinct values is estimated."""

_MOST_DIFFERENT = 0.75
"""The share of distinct values, among the first values of a batch, from which on dictionary encoding saves no time."""

_WORTH_ROWS = 1_024
"""The least number of rows of a batch for which dictionary encoding is faster than looking up every value."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The values of one p-attribute over a batch, which become keys slice by slice.

    ``values`` are in the layout that ``space`` reads, or are dictionary-encoded. For an encoded column, ``value_keys``
    and ``value_nulls`` have the key and the NULL flag of each distinct value, computed once. Columns of byte strings
    that often repeat are encoded for this purpose: finding equal strings takes a tenth of the time of looking them up
    among the constants. Cost: the values are not copied, unless the column is encoded here. This takes 4 bytes per row,
    and one copy of each distinct value.
    """

    space: KeySpace
    dictionary: Dictionary
    values: pa.Array
    value_keys: Keys | None = None
    value_nulls: Mask | None = None

    def keys(self, start: int, stop: int, out: Keys) -> Mask | None:
        """Write the keys of rows ``start`` to ``stop`` into ``out`` int64[stop - start], and return the mask of NULLs.

        The mask is None if no value is NULL. The key of a NULL is arbitrary.
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
        """Return the value of a row as an Arrow scalar, decoded if the column is dictionary-encoded."""
        found = self.values[row]
        return found.value if isinstance(found, pa.DictionaryScalar) else found

    def nulls(self, start: int, stop: int) -> Mask | None:
        """Return the mask of NULLs of rows ``start`` to ``stop``; None if no value is NULL."""
        part = self.values.slice(start, stop - start)
        nulls = null_mask(part)
        return nulls if self.value_nulls is None else self._with_values(nulls, _indices(part, nulls))

    def _with_values(self, nulls: Mask | None, indices: npt.NDArray[Any]) -> Mask | None:
        """Return the mask of the rows that are NULL in a dictionary-encoded column. ``nulls``: the rows without an
        index. The result also has the rows whose index refers to NULL. ``indices``: the index of each row.
        """
        if self.value_nulls is None:
            return nulls
        among: Mask = self.value_nulls[indices]
        return among if nulls is None else nulls | among


def column(attribute: PAttribute, dictionary: Dictionary, values: pa.Array | pa.ChunkedArray) -> Column:
    """Return the column of a p-attribute from an Arrow array of its type.

    The array may be chunked, sliced, dictionary-encoded, or of a large or view type. Raise PlanError if it has another
    type.
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
    """Return the indices of dictionary-encoded values; the index of a NULL is 0."""
    indices = fixed_width(values, values.type.index_type.to_pandas_dtype())
    return indices if nulls is None else np.where(nulls, 0, indices)


def _repeats(values: pa.Array) -> bool:
    """Return True if many of the first values occur more than once, so that dictionary encoding saves time. NULLs do
    not count.
    """
    first = values.slice(0, _LOOKED_AT).drop_null()
    return len(first.unique()) < _MOST_DIFFERENT * len(first)
