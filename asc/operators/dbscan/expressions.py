"""Expressions of a DBSCAN query over the records of one schema. Each expression is checked: its type must fit its use
as attribute, time, key or position.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from asc.errors import DbscanError, PredicateError
from asc.operators.dbscan.definition import DbscanDefinition
from asc.operators.read_operand import BINARY_KEY_REMEDY, ReadOperand, read_operand
from asc.predicate import normalise
from asc.predicate.expressions.types import name as type_name
from asc.predicate.syntax.reader import SYNTAX_REMEDY
from asc.schema import PLANAR, Schema

_TIMESTAMP = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True)
class DbscanExpression:
    """An expression over a record. ``sql``: its text for Spark. ``path``: the names from the column to the nested
    field, if the expression is a plain column or field; otherwise None.
    """

    sql: str
    type: pa.DataType
    path: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class DbscanExpressions:
    """The expressions of a DBSCAN query: the values of a point, its time and its key. Time or key is None if it is
    absent.

    ``values``: the attributes, or longitude and latitude. ``warnings``: warnings about the expressions.
    """

    values: tuple[DbscanExpression, ...]
    time: DbscanExpression | None
    key: DbscanExpression | None
    warnings: tuple[str, ...] = ()

    @staticmethod
    def of(definition: DbscanDefinition, schema: Schema, time_zone: str) -> DbscanExpressions:
        """Return the expressions of a definition. Raise DbscanError if an expression is refused."""
        reader = _Reader(schema, time_zone)
        if definition.position is not None:
            values = reader.position(definition.position)
        else:
            values = tuple(reader.number(sql) for sql in definition.attributes)
        time = None if definition.time is None else reader.time(definition.time)
        key = None if definition.key is None else reader.key(definition.key)
        return DbscanExpressions(values, time, key, (*reader.warnings, *definition.warnings))


class _Reader:
    def __init__(self, schema: Schema, time_zone: str) -> None:
        self.schema = schema
        self.time_zone = time_zone
        self.warnings: dict[str, None] = {}

    def number(self, sql: str) -> DbscanExpression:
        found = self.scalar("attributes", sql)
        types = pa.types
        if not (types.is_integer(found.type) or types.is_floating(found.type) or types.is_decimal(found.type)):
            remedy = f"is {type_name(found.type)}, no number: name a numeric expression, or CAST it to one"
            raise DbscanError("operator.attributes", sql, remedy)
        return found

    def time(self, sql: str) -> DbscanExpression:
        found = self.scalar("time", sql)
        if found.type != _TIMESTAMP:
            remedy = f"is {type_name(found.type)}, no TIMESTAMP: name one, or CAST it to one"
            raise DbscanError("operator.time", sql, remedy)
        return found

    def key(self, sql: str) -> DbscanExpression:
        found = self.scalar("key", sql)
        if found.type == pa.binary():
            raise DbscanError("operator.key", sql, BINARY_KEY_REMEDY)
        return found

    def position(self, sql: str) -> tuple[DbscanExpression, ...]:
        if self.schema.crs == PLANAR:
            remedy = "needs degrees, and the stream is planar: name x and y as attributes"
            raise DbscanError("operator.position", sql, remedy)
        try:
            found = normalise(f"ST_DistanceSphere(ST_Point(0, 0), {sql}) <= 1", self.schema, time_zone=self.time_zone)
        except PredicateError as error:
            raise self._refusal("position", sql, error) from None
        if len(found.read) != 1 or not found.columns or not found.read[0].is_point:
            raise DbscanError("operator.position", sql, "is no point that differs: write ST_Point(longitude, latitude)")
        parts = zip(found.read[0].parts, found.read[0].part_texts, strict=True)
        return tuple(DbscanExpression(text, part.type, part.path) for part, text in parts)

    def scalar(self, name: str, sql: str) -> DbscanExpression:
        try:
            operand = read_operand(sql, self.schema, self.time_zone)
        except PredicateError as error:
            raise self._refusal(name, sql, error) from None
        if operand.is_constant:
            raise DbscanError(f"operator.{name}", sql, "is the same for every record: name columns that differ")
        if operand.type is None or pa.types.is_nested(operand.type):
            raise DbscanError(
                f"operator.{name}", sql, f"is {_named(operand)}: name a value that is no array, map or struct"
            )
        self.warnings.update(dict.fromkeys(f"operator.{name} {sql!r}: {warning}" for warning in operand.warnings))
        return DbscanExpression(sql, operand.type, operand.path)

    def _refusal(self, name: str, sql: str, error: PredicateError) -> DbscanError:
        """Return the error for a refused expression, which quotes the text that the user wrote, not the text that the
        broker made of it.
        """
        try:
            read_operand(sql, self.schema, self.time_zone)
        except PredicateError as own:
            error = own
        remedy = error.remedy.replace(SYNTAX_REMEDY, "write an expression of Spark SQL")
        return DbscanError(f"operator.{name}", sql, f"{error.subject} {str(error.value)!r}: {remedy}")


def _named(found: ReadOperand) -> str:
    return "of no known type" if found.type is None else type_name(found.type)
