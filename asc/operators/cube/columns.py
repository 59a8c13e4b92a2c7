"""The columns of a batch of records, in the form that cubes read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.column_casts import column_at, fitted
from asc.errors import CubeError
from asc.frozen import frozen
from asc.keys.spaces import space_of
from asc.matcher import Matcher
from asc.operators.cube.grouping import pane_digit
from asc.operators.cube.keys import Key
from asc.operators.cube.operand import Operand
from asc.operators.cube.states.memory import nulls_of, numbers
from asc.operators.cube.states.state import State, Values
from asc.operators.times import FIRST_US, LAST_US
from asc.schema import Schema

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """The sizes in bytes of the values of a key.

    ``by_code`` int64[radix]: the size of the value of each code, 0 if the values are neither texts nor BINARY.
    ``longest``: the largest size.
    """

    by_code: _Ints
    longest: int


@dataclass(frozen=True, slots=True, eq=False)
class Panes:
    """The pane of each row of a batch.

    ``numbers`` int64[rows]: the pane numbers. ``codes`` and ``radix``: the panes as a digit for :class:`Grouping`.
    """

    numbers: _Ints
    codes: npt.NDArray[np.int32]
    radix: int


class Columns:
    """The expressions of cubes over the rows of one batch. Each expression is computed once and shared by all cubes.

    An expression that is not a plain column is read from the column of the batch that has the expression's SQL text as
    its name. A plain column may also be a field of a struct. If the batch has no column for a FILTER over plain
    columns, the FILTER is evaluated here. In texts, bytes that are not UTF-8 are replaced by U+FFFD. Not thread-safe.
    """

    def __init__(self, batch: pa.Table | pa.RecordBatch, schema: Schema, time_zone: str) -> None:
        self._batch = batch
        self._schema = schema
        self._time_zone = time_zone
        self._arrays: dict[str, pa.Array] = {}
        self._keys: dict[tuple[str, str], Key] = {}
        self._values: dict[tuple[str, object], Values] = {}
        self._sizes: dict[tuple[str, str], Sizes] = {}
        self._panes: dict[tuple[str, int], Panes] = {}
        self._usable: dict[str, npt.NDArray[np.bool_] | None] = {}

    @property
    def count(self) -> int:
        """Return the number of rows."""
        return int(self._batch.num_rows)

    def key(self, operand: Operand) -> Key:
        """Return the key of a dimension. All levels of a computed dimension are computed together.

        Keys are cached by dimension and level, because levels of two cubes may have equal names but different edges.
        """
        level, name = operand.level, _key_name(operand)
        if name not in self._keys and level is not None:
            keys = level.dimension.keys([self.array(own) for own in level.inputs])
            names = [(level.dimension.text, own) for own in level.dimension.levels]
            self._keys.update(zip(names, keys, strict=True))
        elif name not in self._keys:
            self._keys[name] = Key.of(self.array(operand))
        return self._keys[name]

    def sizes(self, operand: Operand) -> Sizes:
        """Return the sizes of the values of a dimension in bytes."""
        name = _key_name(operand)
        if name not in self._sizes:
            found = self.key(operand).sizes
            self._sizes[name] = Sizes(found, int(found.max()))
        return self._sizes[name]

    def values(self, operand: Operand, state: State) -> Values:
        """Return the values of an expression in the form that the states of this class read."""
        place = operand.sql, type(state)
        if place not in self._values:
            self._values[place] = state.values(self.array(operand))
        return self._values[place]

    def rows(self, operands: Sequence[Operand], state: State) -> Values:
        """Return the values of one or several expressions, as rows, in the form that a state reads."""
        if len(operands) == 1:
            return self.values(operands[0], state)
        place = json.dumps([operand.sql for operand in operands]), type(state)
        if place not in self._values:
            self._values[place] = state.together([self.values(operand, state) for operand in operands])
        return self._values[place]

    def panes(self, time: Operand, grain_us: int) -> Panes:
        """Return the pane of each row. A row whose time is unusable gets the pane of some usable row, and must be
        excluded.
        """
        place = time.sql, grain_us
        if place not in self._panes:
            found = numbers(self.array(time), np.int64) // grain_us
            mask = self.usable(time)
            if mask is not None:
                found[~mask] = found[np.argmax(mask)] if mask.any() else 0
            self._panes[place] = Panes(frozen(found), *pane_digit(found))
        return self._panes[place]

    def usable(self, time: Operand) -> npt.NDArray[np.bool_] | None:
        """Return bool[rows]: whether the time is not NULL and in the years 1 to 9999. Return None if the time of every
        row is.
        """
        if time.sql not in self._usable:
            times, nulls = numbers(self.array(time), np.int64), nulls_of(self.array(time))
            mask = (times >= FIRST_US) & (times <= LAST_US)
            if len(nulls):
                mask &= ~nulls
            self._usable[time.sql] = None if mask.all() else mask
        return self._usable[time.sql]

    def array(self, operand: Operand) -> pa.Array:
        """Return the values of an expression as one Arrow array of its type."""
        if operand.sql not in self._arrays:
            self._arrays[operand.sql] = self._made(operand)
        return self._arrays[operand.sql]

    def _made(self, operand: Operand) -> pa.Array:
        is_handed_over = operand.sql in self._batch.schema.names
        if operand.path is not None and not (is_handed_over and len(operand.path) > 1):
            return self._in_one(operand, column_at(self._batch, operand.path, operand.sql))
        if is_handed_over:
            return self._in_one(operand, self._batch.column(operand.sql))
        if operand.where is not None:
            return self._filtered(operand, operand.where)
        remedy = "is no plain column: hand its values over as a column of that name"
        raise CubeError("expression", operand.sql, remedy)

    def _filtered(self, operand: Operand, where: str) -> pa.Array:
        """Return the values of an expression with a FILTER. The value is NULL in each row that the predicate ``where``
        does not accept.
        """
        matcher = Matcher(self._schema, {"filter": where}, time_zone=self._time_zone)
        accepted = np.zeros(self.count, dtype=np.bool_)
        accepted[matcher.match(self._batch)["row"].to_numpy()] = True
        if operand.argument is None:
            return pa.array(np.ones(self.count, dtype=np.int32), mask=~accepted)
        values = self.array(operand.argument)
        return pc.if_else(pa.array(accepted), values, pa.scalar(None, values.type))

    def _in_one(self, operand: Operand, column: Any) -> pa.Array:
        """Return a column as one contiguous array of the operand's type."""
        has_keys = operand.type is not None and space_of(operand.type) is not None
        if has_keys:
            column = fitted(operand.attribute, column)
        if isinstance(column, pa.ChunkedArray):
            chunks = column.chunks or [pa.array([], column.type)]
            column = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        # A measure over another type only needs whether a value is NULL, so the column is not converted.
        if not has_keys:
            return column
        try:
            column = column if column.type == operand.type else column.cast(operand.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            remedy = f"is {column.type}, where the cube takes {operand.type}: cast it"
            raise CubeError("column", operand.sql, remedy) from None
        return repaired(column) if pa.types.is_string(column.type) else column


def _key_name(operand: Operand) -> tuple[str, str]:
    """Return the identity of a key: the text of its computed dimension (empty for an expression), and the SQL text or
    level.
    """
    return ("" if operand.level is None else operand.level.dimension.text), operand.sql


def repaired(column: pa.Array) -> pa.Array:
    """Return a column of texts in which each sequence of bytes that is not UTF-8 is replaced by U+FFFD."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        read = (
            None if value is None else value.decode("utf-8", "replace")
            for value in column.view(pa.binary()).to_pylist()
        )
        return pa.array(read, pa.string())
    return column
