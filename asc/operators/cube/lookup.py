"""Look-ups: tables by key. Questions to cubes may group by the attributes of a table, and compare them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.errors import CubeError
from asc.operators.cube.keys import Key
from asc.operators.cube.operand import is_comparable
from asc.predicate.expressions.types import name as type_name
from asc.spark_types import folded

LOOKUP_ROWS_MAX = 1_000_000
"""The largest number of rows of a look-up."""
LOOKUP_BYTES_MAX = 64 << 20
"""The largest number of bytes of a look-up's file, and of its table in memory."""
LOOKUP_ATTRIBUTES_MAX = 64
"""The largest number of attributes of a look-up."""
LOOKUP_NAME_CHARS_MAX = 64
"""The largest number of characters of the name of a look-up or of an attribute."""

_NAME = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_INTEGER = r"^-?(?:0|[1-9][0-9]*)$"
_SHOWN_CHARS = 100


def row_place(row: int) -> str:
    """Return the place of a row in a file without lines, such as Parquet. Rows are counted from 1.

    >>> row_place(0)
    'row 1'
    """
    return f"row {row + 1:,}"


class Lookup:
    """A table by key, which has a value of each attribute for each key.

    ``key``: the dimension whose values are the keys, as the definition of a cube spells it. ``keys``: the keys of all
    rows, without NULL. ``attributes``: the values of each attribute, by its name, in the order of the keys.
    ``has_text_keys``: whether the keys come from a file without types, such as CSV; they are then parsed as values of
    the dimension's type. ``version``, ``stamp``: the number and the identity of the table, which change with the table.

    Invariant: immutable except for caches; no key occurs twice. Threads may share the object.
    """

    def __init__(
        self,
        name: str,
        key: str,
        keys: pa.Array,
        attributes: Mapping[str, pa.Array],
        *,
        has_text_keys: bool = False,
        version: int = 0,
        stamp: str = "",
    ) -> None:
        self.name = name
        self.key = key
        self.keys = keys
        self.attributes = MappingProxyType(dict(attributes))
        self.has_text_keys = has_text_keys
        self.version = version
        self.stamp = stamp
        self._keys_by_type: dict[pa.DataType, tuple[pa.Array, npt.NDArray[np.int64]]] = {}
        self._codes_by_attribute: dict[str, Key] = {}

    @staticmethod
    def of(
        name: str,
        table: pa.Table,
        key: str,
        *,
        has_text_keys: bool = False,
        version: int = 0,
        stamp: str = "",
        place_of: Callable[[int], str] = row_place,
    ) -> Lookup:
        """Return the look-up in a table with a column ``key``. Rows without a key are excluded.

        Raise CubeError if a name, a type, the size or a key is invalid. ``place_of``: a function that returns the place
        of a row in the file, for the error of a duplicate key.
        """
        check_lookup_name(name)
        keys, attributes = _columns(name, table, key)
        size_bytes = keys.nbytes + sum(column.nbytes for column in attributes.values())
        check_lookup_size(name, table.num_rows, size_bytes)
        if keys.null_count:
            kept = keys.is_valid()
            places = np.flatnonzero(kept.to_numpy(zero_copy_only=False))
            keys, attributes = keys.filter(kept), {own: column.filter(kept) for own, column in attributes.items()}
        else:
            places = np.arange(len(keys))
        if not len(keys):
            raise CubeError("look-up", name, f"has no row with a key in {key!r}: give a table with some")
        repeated = _first_repeated(keys)
        if repeated is not None:
            first, second = (place_of(int(places[row])) for row in repeated)
            shown = _shown(keys[repeated[1]].as_py())
            raise CubeError("key", shown, f"of look-up '{name}' is in {first} and in {second}: keep one of them")
        return Lookup(name, key, keys, attributes, has_text_keys=has_text_keys, version=version, stamp=stamp)

    @property
    def rows(self) -> int:
        """Return the number of keys."""
        return len(self.keys)

    @property
    def size_bytes(self) -> int:
        """Return the size of the table in bytes."""
        return int(self.keys.nbytes + sum(column.nbytes for column in self.attributes.values()))

    @property
    def identity(self) -> str:
        """Return a text that is different for any other table of a look-up."""
        return f"{self.name}@{self.version}/{self.stamp}"

    def attribute_of(self, name: str) -> str | None:
        """Return the attribute with a name, as the table spells it. Return None if there is none."""
        return next((own for own in self.attributes if folded(own) == folded(name)), None)

    def table(self) -> pa.Table:
        """Return the key and the attributes as a table, from which :meth:`of` creates an equal look-up."""
        return pa.table({self.key: self.keys, **self.attributes})

    def values(self, attribute: str) -> Key:
        """Return the values of an attribute as a :class:`Key`, in the order of the rows. Cost: a sort at the first
        call.
        """
        if attribute not in self._codes_by_attribute:
            self._codes_by_attribute[attribute] = Key.of(self.attributes[attribute])
        return self._codes_by_attribute[attribute]

    def rows_of(self, values: pa.Array) -> npt.NDArray[np.int64]:
        """Return the row of each value of a dimension, and -1 for a value that is no key of the look-up.

        Raise CubeError if the keys cannot be compared with values of this type. Cost: a hash table of the keys.
        """
        keys, rows = self._keys_as(values.type)
        found = pc.index_in(values, value_set=keys)
        places = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return np.where(places < 0, -1, rows[places]) if len(rows) else places

    def _keys_as(self, wanted: pa.DataType) -> tuple[pa.Array, npt.NDArray[np.int64]]:
        """Return the keys as values of a type, as in the dictionary of a :class:`Key`, with the row of each key. A key
        that equals no value of the type is omitted.
        """
        if wanted not in self._keys_by_type:
            whole = Key.of(self._cast(wanted))
            rows = np.full(whole.radix, -1, dtype=np.int64)
            rows[whole.codes] = np.arange(len(whole.codes))
            counts = np.bincount(whole.codes, minlength=whole.radix)[1:]
            if (counts > 1).any():
                shown = _shown(whole.dictionary[int(np.argmax(counts > 1))].as_py())
                remedy = f"of look-up '{self.name}' is there twice as {type_name(wanted)}: keep one of them"
                raise CubeError("key", shown, remedy)
            self._keys_by_type[wanted] = whole.dictionary, rows[1:]
        return self._keys_by_type[wanted]

    def _cast(self, wanted: pa.DataType) -> pa.Array:
        kind = self.keys.type
        if kind == wanted:
            return self.keys
        if pa.types.is_integer(kind) and pa.types.is_integer(wanted):
            return _narrowed(self.keys, wanted)
        if not self.has_text_keys:
            remedy = f"is {type_name(kind)} in look-up '{self.name}', and {type_name(wanted)} in the cube: "
            raise CubeError("key", self.key, f"{remedy}write the table's keys as {type_name(wanted)}")
        found = _parsed(self.keys, wanted)
        if found is None:
            remedy = f"of look-up '{self.name}' are not all {type_name(wanted)}, the type of {self.key} in the cube"
            raise CubeError("keys", _shown(self.keys[0].as_py()), f"{remedy}: write them so, or use Parquet")
        return found


def check_lookup_name(name: str) -> None:
    """Raise CubeError if the name of a look-up is invalid."""
    if not _NAME.fullmatch(name) or len(name) > LOOKUP_NAME_CHARS_MAX:
        remedy = f"use 1 to {LOOKUP_NAME_CHARS_MAX} small letters, digits and _, and no digit first, as planes"
        raise CubeError("name of look-up", _shown(name), remedy)


def check_lookup_size(name: str, rows: int, size_bytes: int) -> None:
    """Raise CubeError if a look-up has too many rows or bytes."""
    if rows > LOOKUP_ROWS_MAX:
        raise CubeError("look-up", name, f"has over {LOOKUP_ROWS_MAX:,} rows, the limit: leave out keys of no record")
    if size_bytes > LOOKUP_BYTES_MAX:
        remedy = f"has over {LOOKUP_BYTES_MAX >> 20} MiB in memory, the limit: leave out rows or attributes"
        raise CubeError("look-up", name, remedy)


def _columns(name: str, table: pa.Table, key: str) -> tuple[pa.Array, dict[str, pa.Array]]:
    """Return the column of the key, and the columns of the attributes by name. Raise CubeError if a column
    is invalid.
    """
    key_places = [
        place for place, column in enumerate(table.column_names) if folded(column.strip()) == folded(key.strip())
    ]
    if len(key_places) != 1:
        fault = "is no column of" if not key_places else "is a column twice in"
        shown = ", ".join(table.column_names[:20])
        raise CubeError("key", _shown(key), f"{fault} look-up '{name}': its columns are {shown[:1_000]}")
    others = [place for place in range(table.num_columns) if place != key_places[0]]
    if not 1 <= len(others) <= LOOKUP_ATTRIBUTES_MAX:
        remedy = f"has {len(others)} columns beside its key: give it 1 to {LOOKUP_ATTRIBUTES_MAX}"
        raise CubeError("look-up", name, remedy)
    attributes: dict[str, pa.Array] = {}
    for place in (*key_places, *others):
        column, data = table.column_names[place], table.column(place)
        if not is_comparable(data.type):
            remedy = f"of look-up '{name}' is {type_name(data.type)}: leave it out, or write plain values"
            raise CubeError("column", _shown(column), remedy)
        if place in key_places:
            continue
        if not _ATTRIBUTE.fullmatch(column) or len(column) > LOOKUP_NAME_CHARS_MAX:
            remedy = f"of look-up '{name}' is no name: use letters, digits and _, at most {LOOKUP_NAME_CHARS_MAX}"
            raise CubeError("attribute", _shown(column), remedy)
        if any(folded(column) == folded(other) for other in attributes):
            raise CubeError("attribute", column, f"of look-up '{name}' is there twice: rename one")
        attributes[column] = _array(data)
    return _array(table.column(key_places[0])), attributes


def _array(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole


def _first_repeated(keys: pa.Array) -> tuple[int, int] | None:
    """Return the row of the first key that occurs again, and the row of its first repetition. Return None if all keys
    differ.
    """
    codes = Key.of(keys).codes
    different, firsts = np.unique(codes, return_index=True)
    if len(different) == len(codes):
        return None
    is_first = np.zeros(len(codes), dtype=np.bool_)
    is_first[firsts] = True
    second = int(np.argmin(is_first))
    return int(firsts[np.searchsorted(different, codes[second])]), second


def _narrowed(keys: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return integers as integers of another size. An integer that is too large becomes NULL, which is equal to no
    value.
    """
    bits = wanted.bit_width - 1
    wide = keys.cast(pa.int64())
    is_inside = pc.and_(pc.greater_equal(wide, -(1 << bits)), pc.less_equal(wide, (1 << bits) - 1))
    return pc.if_else(is_inside, wide, pa.scalar(None, pa.int64())).cast(wanted)


def _parsed(keys: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    """Return texts as values of a type. Return None if the type is not supported, or a text is no value of the type."""
    if not pa.types.is_string(keys.type) or pa.types.is_binary(wanted) or pa.types.is_timestamp(wanted):
        return None
    try:
        if pa.types.is_integer(wanted):
            is_plain = pc.all(pc.match_substring_regex(keys, _INTEGER)).as_py()
            return _narrowed(keys.cast(pa.int64()), wanted) if is_plain else None
        return keys.cast(wanted)
    except pa.ArrowInvalid:
        return None


def _shown(value: object) -> str:
    return str(value)[:_SHOWN_CHARS]
