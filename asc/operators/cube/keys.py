"""Keys of cells: the values of one expression as codes, the ranks of the values in a sorted dictionary."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.frozen import frozen
from asc.keys.buffers import null_mask
from asc.operators.cube.states.memory import numbers

Codes = npt.NDArray[np.int32]

_BYTES_A_CODE = 32
"""The largest number of bytes of texts in a dictionary for each code. A larger dictionary is reduced to the values that
occur.
"""
_PAIRS_LEAST, _PAIRS_A_ROW = 1 << 16, 8
""":meth:`Key.arrays` uses one table for all parts if the pairs of a part and a code are at most so many, or so many for
each row.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Key:
    """The values of one expression, over records or cells.

    ``dictionary``: the distinct values without NULL, ascending in Spark's order: NaN last, -0.0 equal to 0.0, texts by
    their bytes. ``codes`` int32[n], not writeable: 0 for NULL, otherwise the index in the dictionary plus 1. So the
    codes have the order of the values, with NULL first. The dictionary may contain values that no code refers to.
    """

    dictionary: pa.Array
    codes: Codes

    @staticmethod
    def of(column: pa.Array) -> Key:
        """Return the key of a column of a plain type. Cost: some 20 ns for each value, and a sort of the distinct
        values.
        """
        if pa.types.is_floating(column.type):
            column = _one_zero(column)
        encoded = column.dictionary_encode()
        indices = encoded.indices
        nulls = null_mask(indices)
        places = numbers(indices, np.int32)
        if not len(encoded.dictionary):
            return Key(encoded.dictionary, frozen(np.zeros(len(column), dtype=np.int32)))
        order, ranks = _sorted(encoded.dictionary)
        codes = ranks[places] if nulls is None else np.where(nulls, 0, ranks[np.where(nulls, 0, places)])
        return Key(encoded.dictionary.take(pa.array(order)), frozen(codes.astype(np.int32, copy=False)))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def radix(self) -> int:
        """Return the number of codes: one for NULL and one for each value of the dictionary."""
        return len(self.dictionary) + 1

    @property
    def has_bytes(self) -> bool:
        """Return whether the values are texts or binary."""
        return bool(pa.types.is_string(self.dictionary.type) or pa.types.is_binary(self.dictionary.type))

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Return the size in bytes of the value of each code, int64[radix]. The sizes are 0 if the values are neither
        texts nor binary.
        """
        if not self.has_bytes:
            return np.zeros(self.radix, dtype=np.int64)
        lengths = pc.binary_length(self.dictionary).to_numpy(zero_copy_only=False)
        return np.concatenate((np.zeros(1, dtype=np.int64), lengths))

    def take(self, rows: npt.NDArray[Any]) -> Key:
        """Return the key of the rows at the indices ``rows``."""
        return Key(self.dictionary, frozen(self.codes.take(rows)))

    def slice(self, start: int, stop: int) -> Key:
        """Return the key of the rows from ``start`` to before ``stop``."""
        return Key(self.dictionary, self.codes[start:stop])

    def compact(self) -> Key:
        """Return the key with a dictionary of exactly the values that occur."""
        present = np.zeros(self.radix, dtype=np.bool_)
        present[self.codes] = True
        present[0] = True
        if present.all():
            return self
        ranks = np.cumsum(present, dtype=np.int32) - np.int32(1)
        kept = np.flatnonzero(present[1:])
        return Key(self.dictionary.take(pa.array(kept)), frozen(ranks[self.codes]))

    def bounded(self) -> Key:
        """Return the key with a dictionary of at most one value, and _BYTES_A_CODE bytes, for each code.

        The dictionary may contain values that no code refers to, because finding them takes a pass over the codes.
        :meth:`array` does not write these values.
        """
        count = len(self.codes)
        if len(self.dictionary) > count or (self.has_bytes and self.dictionary.nbytes > _BYTES_A_CODE * count):
            return self.compact()
        return self

    def array(self) -> pa.DictionaryArray:
        """Return the values as a dictionary-encoded array. The dictionary has only the values that occur."""
        own = self.compact()
        nulls = own.codes == 0
        places = np.where(nulls, 0, own.codes - 1).astype(np.int32)
        bitmap = pa.py_buffer(np.packbits(~nulls, bitorder="little")) if nulls.any() else None
        indices = pa.Array.from_buffers(pa.int32(), len(places), [bitmap, pa.py_buffer(places)])
        return pa.DictionaryArray.from_arrays(indices, own.dictionary)

    def arrays(self, bounds: Sequence[int]) -> Iterator[tuple[pa.DictionaryArray, Hashable]]:
        """Yield the rows between each two successive bounds as :meth:`array` returns them, each with a mark of its
        dictionary.

        Parts with equal marks share one dictionary; the mark None means the dictionary of this key. Cost: a few passes
        over all rows. If there are many more pairs of a part and a code than rows, a few passes for each part.
        """
        parts = len(bounds) - 1
        if parts < 2 or parts * self.radix > max(_PAIRS_LEAST, _PAIRS_A_ROW * len(self.codes)):
            yield from ((self.slice(start, stop).array(), object()) for start, stop in pairwise(bounds))
            return
        pairs = np.repeat(np.arange(0, parts * self.radix, self.radix), np.diff(bounds))
        pairs += self.codes[bounds[0] : bounds[-1]]
        present = np.zeros((parts, self.radix), dtype=np.bool_)
        present.reshape(-1)[pairs] = True
        has_null = present[:, 0].tolist()
        present[:, 0] = False
        places = (np.cumsum(present, axis=1, dtype=np.int32) - np.int32(1)).reshape(-1)[pairs]
        np.maximum(places, 0, out=places)
        data, width, first = pa.py_buffer(places), places.itemsize, bounds[0]
        of_buffers, encoded, kind = pa.Array.from_buffers, pa.DictionaryArray.from_arrays, pa.int32()
        dictionaries: dict[bytes | None, pa.Array] = {None: self.dictionary}
        marks = [None if row[1:].all() else row.tobytes() for row in present]
        for part, (start, stop) in enumerate(pairwise(bounds)):
            mark = marks[part]
            if mark not in dictionaries:
                dictionaries[mark] = self.dictionary.take(pa.array(np.flatnonzero(present[part, 1:])))
            bitmap = None
            if has_null[part]:
                bitmap = pa.py_buffer(np.packbits(self.codes[start:stop] != 0, bitorder="little"))
            own = data.slice((start - first) * width, (stop - start) * width)
            indices = of_buffers(kind, stop - start, [bitmap, own])
            yield encoded(indices, dictionaries[mark], safe=False), mark

    @staticmethod
    def of_array(array: pa.DictionaryArray) -> Key:
        """Return the key of an array that :meth:`array` returned."""
        places, nulls = numbers(array.indices, np.int32), null_mask(array.indices)
        codes = places + np.int32(1) if nulls is None else np.where(nulls, np.int32(0), places + np.int32(1))
        return Key(array.dictionary, frozen(codes.astype(np.int32, copy=False)))

    @staticmethod
    def joined(keys: Sequence[Key]) -> Key:
        """Return the concatenation of several keys of one expression, with one dictionary."""
        first = keys[0].dictionary
        if all(key.dictionary is first for key in keys):
            return Key(first, frozen(np.concatenate([key.codes for key in keys])))
        whole = Key.of(pa.concat_arrays([key.dictionary for key in keys]))
        codes, start = [], 0
        for key in keys:
            stop = start + len(key.dictionary)
            own = np.concatenate((np.zeros(1, dtype=np.int32), whole.codes[start:stop]))
            codes.append(own[key.codes])
            start = stop
        return Key(whole.dictionary, frozen(np.concatenate(codes)))


def _sorted(dictionary: pa.Array) -> tuple[npt.NDArray[np.int64], Codes]:
    """Return the sort order of distinct values, and the code of each value."""
    order = pc.array_sort_indices(dictionary).to_numpy().astype(np.int64)
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(1, len(order) + 1, dtype=np.int32)
    return order, ranks


def _one_zero(column: pa.Array) -> pa.Array:
    """Return floats with -0.0 replaced by 0.0, and a single representation of NaN."""
    values = numbers(column, column.type.to_pandas_dtype()) + 0
    values[np.isnan(values)] = np.nan
    nulls = null_mask(column)
    return pa.array(values, column.type, mask=nulls, from_pandas=False)
