"""Arrow columns as int64 keys and NULL masks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import PlanError
from asc.evaluation.kernels import bytes_keys, float_keys
from asc.keys.attribute import Kind, PAttribute
from asc.keys.dictionary import Dictionary
from asc.keys.grid import Keys

Mask = npt.NDArray[np.bool_]

NO_CONSTANTS = Dictionary.of(())


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The values of one p-attribute over a batch; they become keys slice by slice, so that no copy of the whole is
    made.

    ``values`` has the p-attribute's type, or is ``indices`` into ``values`` for a dictionary-encoded array, whose
    different values become keys once (``value_keys``, ``value_nulls``).
    """

    attribute: PAttribute
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
            _write_keys(part, self.attribute, self.dictionary, out)
            return nulls
        if not len(self.value_keys):
            return np.ones(len(part), dtype=np.bool_)
        indices = _fixed_width(part, part.type.index_type.to_pandas_dtype())
        if nulls is not None:
            indices = np.where(nulls, 0, indices)
        np.take(self.value_keys, indices, out=out)
        if self.value_nulls is not None:
            among = self.value_nulls[indices]
            nulls = among if nulls is None else nulls | among
        return nulls


def column(attribute: PAttribute, dictionary: Dictionary, values: pa.Array | pa.ChunkedArray) -> Column:
    """The column of a p-attribute from any array of its type: chunked, sliced, dictionary-encoded, of a large or view
    type.

    Raises PlanError for an array of another type.
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    encoded = pa.types.is_dictionary(values.type)
    given = values.type.value_type if encoded else values.type
    if not _is_same(given, attribute.type):
        raise PlanError(f"column of p-attribute {attribute.sql} has type", str(given), f"expected {attribute.type}")
    if encoded:
        different = values.dictionary.cast(attribute.type)
        keys = np.empty(len(different), dtype=np.int64)
        if len(different):
            _write_keys(different, attribute, dictionary, keys)
        return Column(attribute, dictionary, values, keys, null_mask(different))
    if given != attribute.type and attribute.kind is Kind.BYTES:
        values = values.cast(attribute.type)
    return Column(attribute, dictionary, values)


def null_mask(values: pa.Array) -> Mask | None:
    """bool[n], true where a value is NULL; None where none is."""
    if values.null_count == 0:
        return None
    return ~_bits(values.buffers()[0], values.offset, len(values))


def _is_same(given: pa.DataType, wanted: pa.DataType) -> bool:
    types = pa.types
    if types.is_string(wanted):
        return bool(types.is_string(given) or types.is_large_string(given) or types.is_string_view(given))
    if types.is_binary(wanted):
        return bool(types.is_binary(given) or types.is_large_binary(given) or types.is_binary_view(given))
    if types.is_timestamp(wanted):
        # Both are microseconds of UTC, whatever zone they are shown in.
        return bool(types.is_timestamp(given) and given.unit == "us" and (given.tz is None) == (wanted.tz is None))
    return bool(given == wanted)


def _write_keys(values: pa.Array, attribute: PAttribute, dictionary: Dictionary, out: Keys) -> None:
    kind = attribute.kind
    if kind is Kind.FLOAT:
        single = pa.types.is_float32(values.type)
        numbers = _fixed_width(values, np.float32 if single else np.float64)
        float_keys(numbers.astype(np.float64) if single else numbers, out)
    elif kind is Kind.BYTES:
        offsets, data = _bytes(values)
        bytes_keys(offsets, data, dictionary.offsets, dictionary.data, dictionary.heads, dictionary.labels, out)
    elif pa.types.is_boolean(values.type):
        out[:] = _bits(values.buffers()[1], values.offset, len(values))
    elif pa.types.is_decimal(values.type):
        # Two's complement of 128 bits: what fits 18 digits is its low word.
        low = np.frombuffer(values.buffers()[1], dtype=np.int64)[::2]
        out[:] = low[values.offset : values.offset + len(values)]
    else:
        out[:] = _fixed_width(values, f"i{values.type.bit_width // 8}")


def _bytes(values: pa.Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Offsets int32[n + 1] and the bytes they point into."""
    if pa.types.is_decimal(values.type):
        words = np.frombuffer(values.buffers()[1], dtype="<u8").reshape(-1, 2)
        words = words[values.offset : values.offset + len(values)]
        image = np.empty((len(words), 2), dtype=">u8")
        image[:, 0] = words[:, 1] ^ np.uint64(1 << 63)
        image[:, 1] = words[:, 0]
        return np.arange(len(words) + 1, dtype=np.int32) * 16, image.view(np.uint8).reshape(-1)
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[values.offset : values.offset + len(values) + 1]
    return ends, np.frombuffer(data if data is not None else b"", dtype=np.uint8)


def _fixed_width(values: pa.Array, dtype: Any) -> npt.NDArray[Any]:
    return np.frombuffer(values.buffers()[1], dtype=dtype)[values.offset : values.offset + len(values)]


def _bits(buffer: pa.Buffer, offset: int, length: int) -> Mask:
    first = offset >> 3
    packed = np.frombuffer(buffer, dtype=np.uint8)[first : (offset + length + 7) >> 3]
    return np.unpackbits(packed, bitorder="little", count=offset - first * 8 + length)[offset - first * 8 :].view(
        np.bool_
    )
