"""Operands: the expressions of a cube over a record, with their types."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from asc.errors import AscError, CubeError, PredicateError
from asc.keys.attribute import PAttribute
from asc.keys.spaces import space_of
from asc.operators.cube.computed.computed_dimension import ComputedDimension
from asc.operators.read_operand import read_operand
from asc.predicate import Predicate, normalise
from asc.predicate.expressions.types import name as type_name
from asc.predicate.syntax.reader import SYNTAX_REMEDY
from asc.schema import Schema

_TIMESTAMP = pa.timestamp("us", tz="UTC")
_GROUPING = "a boolean, integer, decimal, FLOAT, DOUBLE, STRING, BINARY, DATE or TIMESTAMP"
_COMPARISON_HINT = "; on the command line > separates levels: put a comparison in parentheses, as (qty > 3)"


@dataclass(frozen=True, slots=True)
class Operand:
    """An expression over a record, whose values a cube groups by or aggregates.

    ``sql``: the identity of the operand, and the name of the column that contains computed values. ``type``: the Arrow
    type of the values; None if only NULL or not NULL matters. ``path``: the path of a plain column in a table; None for
    any other expression. ``where``: the predicate of a FILTER; the value is NULL if the predicate is not true.
    ``argument``: the expression without the FILTER; None if records are counted. ``level``: the level of a computed
    dimension, whose values are computed from other operands; None for an expression that Spark or a table provides.
    """

    sql: str
    type: pa.DataType | None
    path: tuple[str, ...] | None = None
    where: str | None = None
    argument: Operand | None = None
    level: Level | None = None

    @property
    def attribute(self) -> PAttribute:
        """Return the operand as a p-attribute of the engine."""
        return PAttribute(self.sql, self.type, self.path)


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a computed dimension. ``place``: the index of the level. ``inputs``: the operands of the dimension's
    inputs.
    """

    dimension: ComputedDimension
    place: int
    inputs: tuple[Operand, ...]


class OperandReader:
    """The reader of the expressions of one cube: it determines their types over the records of a schema."""

    def __init__(self, schema: Schema, time_zone: str) -> None:
        self.schema = schema
        self.time_zone = time_zone
        self._warnings: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings about the expressions read so far, each with the field of its expression."""
        return tuple(self._warnings)

    def dimension(self, sql: str, *, is_alone: bool = True) -> Operand:
        """Return the operand of a dimension. Raise CubeError if its values cannot be keys.

        ``is_alone``: whether the dimension has only this level. It decides whether an error mentions that ``>``
        separates levels.
        """
        # The command line divides ``qty > 3`` into levels, although it may be a comparison.
        found = self._read("dimension", sql, hint="" if is_alone else _COMPARISON_HINT)
        if not is_comparable(found.type):
            raise CubeError("dimension", sql, f"is {type_name(found.type)}: group by {_GROUPING}, or CAST it to one")
        if pa.types.is_floating(found.type):
            self._warnings[f"dimension {sql!r}: each different {type_name(found.type)} is a group: round it"] = None
        return found

    def levels(self, dimension: ComputedDimension) -> tuple[Operand, ...]:
        """Return the operands of the levels of a computed dimension. Raise CubeError if its inputs are refused."""
        inputs = tuple(self._read(f"dimension {dimension.text!r}:", sql) for sql in dimension.inputs)
        dimension.check([own.type for own in inputs])
        self._warnings.update(dict.fromkeys(dimension.warnings))
        return tuple(
            Operand(name, dimension.type, level=Level(dimension, place, inputs))
            for place, name in enumerate(dimension.levels)
        )

    def time(self, sql: str) -> Operand:
        """Return the operand of the time. Raise CubeError if it is not a TIMESTAMP."""
        found = self._read("time", sql)
        if found.type != _TIMESTAMP:
            raise CubeError("time", sql, f"is {type_name(found.type)}, no TIMESTAMP: name one, or CAST it to one")
        return found

    def argument(self, sql: str, call: str) -> Operand:
        """Return the operand of a measure's argument. ``call``: the measure, for errors."""
        return self._read(f"measure {call!r}:", sql)

    def where(self, where: str, call: str) -> Predicate:
        """Return the predicate of a FILTER. Raise CubeError if it is not a predicate."""
        try:
            found = normalise(where, self.schema, time_zone=self.time_zone)
        except PredicateError as error:
            raise _refusal(f"measure {call!r}:", where, error) from None
        self._warnings.update(dict.fromkeys(f"measure {call!r}: {warning}" for warning in found.warnings))
        return found

    def _read(self, subject: str, sql: str, *, hint: str = "") -> Operand:
        try:
            operand = read_operand(sql, self.schema, self.time_zone)
        except PredicateError as error:
            raise _refusal(subject, sql, error) from None
        if operand.is_constant:
            raise CubeError(subject, sql, f"is the same for every record: name columns that differ{hint}")
        self._warnings.update(dict.fromkeys(f"{subject} {sql!r}: {warning}" for warning in operand.warnings))
        return Operand(sql, operand.type, operand.path)


def is_comparable(data_type: pa.DataType | None) -> bool:
    """Return whether a cube can group by values of a type, and can find their minimum and maximum."""
    if data_type is None or pa.types.is_nested(data_type):
        return False
    return space_of(data_type) is not None


def _refusal(subject: str, sql: str, error: AscError) -> CubeError:
    """Return the error for a refused expression, in terms of the user's text."""
    remedy = error.remedy.replace(SYNTAX_REMEDY, "write an expression of Spark SQL")
    return CubeError(subject, sql, f"{error.subject} {str(error.value)!r}: {remedy}")
