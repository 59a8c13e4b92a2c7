"""Expressions of operators over a record: SQL texts, each with a role that determines how the text is checked and
computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import pyarrow as pa

from asc.errors import PredicateError
from asc.operators.read_operand import BINARY_KEY_REMEDY, read_operand
from asc.predicate.expressions.types import name as type_name
from asc.predicate.limits import Limits
from asc.predicate.normal_form.describe import plain_attribute
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.predicate.spatial.spatial_forms import IN_THE_PLANE
from asc.predicate.syntax.nodes import shortened
from asc.predicate.syntax.parser import parse
from asc.predicate.syntax.reader import SYNTAX_REMEDY
from asc.schema import Schema
from broker.errors import QueryError
from broker.operators.value_predicate import value_predicate

Role = Literal["key", "time", "number", "value", "position", "predicate"]
"""The role of an expression. ``key``: the text that identifies an object. ``time``: a TIMESTAMP. ``number``: a number.
``value``: any scalar. ``position``: a point. ``predicate``: a predicate over several records, which the reader of the
feed evaluates.
"""

_COMPUTED: Mapping[Role, str] = {
    "key": "CAST(({sql}) AS STRING)",
    "time": "unix_micros({sql})",
    "number": "{sql}",
    "value": "{sql}",
}

_ASKED: Mapping[Role, str] = {
    "key": "{computed} >= ''",
    "time": "{computed} <= 9223372036854775807L",
}
"""For some roles, the predicate by which the engine gets the value of an expression as the p-attribute of the
predicate. The predicate compares the value with a constant. With IS NOT NULL instead, the p-attribute of an expression
that may throw would be the boolean, and not the value.
"""

_SHOWN_CHARS = 200


class RecordAnalyser(Protocol):
    """The analyser of predicates over the records of a stream, reduced to the methods that operators use."""

    @property
    def attributes(self) -> Schema:
        """Return the attributes of a record."""

    @property
    def time_zone(self) -> str:
        """Return the zone in which Spark reads times without a zone; in a daemon this is ``spark.time_zone``."""

    def normalise(self, where: str) -> Predicate:
        """Return the normal form of a predicate. Raise PredicateError if the text is not a valid predicate."""

    def over(self, schema: Schema) -> RecordAnalyser:
        """Return the analyser of predicates over another schema, with the same Spark session."""

    def check(self, predicate: Predicate, *, patiently: bool = False) -> None:
        """Raise QueryError if Spark refuses a predicate, or interprets it differently.

        ``patiently``: without a time limit.
        """


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of an operator. ``name``: its field in the definition. ``sql``: its text, as the user wrote it.

    >>> Expression("time", "ts", "time").computed
    'unix_micros(ts)'
    """

    name: str
    sql: str
    role: Role

    @property
    def computed(self) -> str:
        """Return the SQL that Spark computes for the expression. For a position, this is a predicate that reads the
        position.
        """
        if self.role == "position":
            return f"ST_DistanceSphere(ST_Point(0, 0), {self.sql}) <= 1"
        return _COMPUTED[self.role].format(sql=self.sql)

    def read(self, analyser: RecordAnalyser) -> Predicate:
        """Return a predicate whose one p-attribute is the expression. Raise QueryError if the expression is refused.

        Because it is a predicate, all checks that keep an expression from throwing or stalling apply to it.
        """
        is_position = self.role == "position"
        if self.role == "key":
            self._check_key(analyser)
        if self.role == "number":
            self._check_number(analyser)
        try:
            predicate = analyser.normalise(self._asked(analyser))
        except PredicateError as error:
            remedy = self._remedy(error, analyser.time_zone)
            raise QueryError(f"operator.{self.name}", self.sql[:_SHOWN_CHARS], remedy) from None
        if len(predicate.read) != 1 or not predicate.columns or is_position != bool(predicate.read[0].parts):
            remedy = "is the same for every record: name columns that differ"
            raise QueryError(f"operator.{self.name}", self.sql[:_SHOWN_CHARS], remedy)
        return predicate

    def _asked(self, analyser: RecordAnalyser) -> str:
        """Return the predicate whose one p-attribute is the expression. Raise PredicateError if the text is not a valid
        expression.
        """
        if self.role == "position":
            return self.computed
        if self.role in ("number", "value"):
            return value_predicate(self.sql, analyser.attributes, analyser.time_zone)
        return _ASKED[self.role].replace("{computed}", self.computed)

    def _check_key(self, analyser: RecordAnalyser) -> None:
        """Raise QueryError if the key is of type BINARY."""
        try:
            # Not by a null test: it reads of an expression that may throw whether it is NULL, and not the bytes.
            value_type = read_operand(self.sql, analyser.attributes, analyser.time_zone).type
        except PredicateError:
            # The text with the cast is refused as well, with the remedy of that.
            return
        if value_type == pa.binary():
            raise QueryError(f"operator.{self.name}", self.sql[:_SHOWN_CHARS], BINARY_KEY_REMEDY)

    def _check_number(self, analyser: RecordAnalyser) -> None:
        """Raise QueryError if the type is not numeric. A text of digits would otherwise pass through a CAST."""
        try:
            value_type = read_operand(self.sql, analyser.attributes, analyser.time_zone).type
        except PredicateError:
            # The predicate that reads it is refused as well, with the remedy of that.
            return
        types = pa.types
        if value_type is not None and (
            types.is_integer(value_type) or types.is_floating(value_type) or types.is_decimal(value_type)
        ):
            return
        shown = "of no known type" if value_type is None else type_name(value_type)
        remedy = f"is {shown}, no number: name a numeric expression, or CAST it to one"
        raise QueryError(f"operator.{self.name}", self.sql[:_SHOWN_CHARS], remedy)

    def _remedy(self, error: PredicateError, time_zone: str) -> str:
        """Return the remedy in terms of the user's text, not of the generated text around it."""
        if self.role == "time" and error.value == shortened(self.computed):
            return "is no TIMESTAMP: name one, or CAST it to one"
        if self.role == "position" and error.subject.startswith(IN_THE_PLANE):
            return 'is in the plane: this operator needs degrees, so a stream with crs = "wgs84"'
        try:
            parse(self.sql, Limits(), time_zone)
        except PredicateError as own:
            error = own
        remedy = error.remedy.replace(SYNTAX_REMEDY, "write an expression of Spark SQL")
        return f"{error.subject} {str(error.value)!r}: {remedy}"


@dataclass(frozen=True, slots=True)
class OperatorExpressions:
    """The expressions of one operator, checked.

    ``fields``: the expressions in the fields of the definition, in order. Each is a predicate with exactly one
    p-attribute, the expression. ``carried``: the columns that a condition also reads, by name, in the form of
    observations (Spark SQL). ``carried_reads``: for each of these columns, a predicate with the column as its one
    p-attribute. ``warnings``: the warnings of a registration, each with its field. ``columns_ddl``: the schema of the
    record's columns that the expressions read, if the workers of the kind need the types; empty otherwise.
    ``time_zone``: the time zone in which expressions are evaluated, here and by workers.
    """

    fields: tuple[Predicate, ...] = ()
    carried: tuple[tuple[str, str], ...] | None = None
    carried_reads: tuple[Predicate, ...] = ()
    warnings: tuple[str, ...] = ()
    columns_ddl: str = ""
    time_zone: str = "UTC"

    @property
    def all(self) -> tuple[Predicate, ...]:
        """Return every expression that Spark computes for the operator."""
        return (*self.fields, *self.carried_reads)

    def beside(self, predicate: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON form of a predicate, extended by the expressions of the operator. The warnings of the
        expressions follow the warnings of the predicate.
        """
        read = dict.fromkeys(attribute for each in self.all for attribute in each.read)
        return {
            **predicate,
            "expressions": [plain_attribute(attribute) for attribute in read],
            "warnings": [*predicate["warnings"], *self.warnings],
            "text": "\n".join([predicate["text"], *(f"warning: {warning}" for warning in self.warnings)]),
        }


NO_EXPRESSIONS = OperatorExpressions()
