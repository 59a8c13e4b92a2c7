"""The condition of a near query: a predicate over two observations, ``a`` and ``b``, which reads the values that they
carry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from asc.errors import AscError
from asc.keys.byte_strings import quoted
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.schema import Schema
from asc.spark_types import backquoted, ddl_of_type, quoted_name
from broker.errors import QueryError
from broker.operators.expression import RecordAnalyser

OBJECTS = ("a", "b")
"""The names of the two objects in conditions; ``a`` is the one with the smaller key."""

_MICROS = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


@dataclass(frozen=True, slots=True)
class CarriedColumn:
    """A scalar column that a condition reads of both objects: its path as the schema spells it, and its type."""

    path: tuple[str, ...]
    type: pa.DataType

    @property
    def name(self) -> str:
        """Return the column's name in carried values: the quoted path. Quotes make the names of different paths differ,
        and Spark's JSON reader accepts such names.
        """
        return self.text

    @property
    def text(self) -> str:
        """Return the column of a record's attributes as Spark SQL."""
        return ".".join(map(backquoted, self.path))

    @property
    def sent(self) -> str:
        """Return the SQL of the column's value, converted to a type that JSON represents without loss."""
        text = self.text
        if pa.types.is_date(self.type):
            return f"unix_date({text})"
        if pa.types.is_timestamp(self.type):
            return f"unix_micros({text})" if self.type.tz else f"timestampdiff(MICROSECOND, {_MICROS}, {text})"
        return text

    @property
    def carried_ddl(self) -> str:
        """Return the DDL of the column's field in the carried values."""
        is_number = pa.types.is_timestamp(self.type) or pa.types.is_date(self.type)
        whole = "INT" if pa.types.is_date(self.type) else "BIGINT"
        return f"{quoted_name(self.name)} {whole if is_number else ddl_of_type(self.type)}"

    def received(self, carried: str) -> str:
        """Return Spark SQL for the column's value. ``carried``: the SQL of the struct of carried values."""
        text = f"{carried}.{quoted_name(self.name)}"
        if pa.types.is_date(self.type):
            return f"date_from_unix_date({text})"
        if pa.types.is_timestamp(self.type):
            return f"timestamp_micros({text})" if self.type.tz else f"timestampadd(MICROSECOND, {text}, {_MICROS})"
        return text


@dataclass(frozen=True, slots=True)
class NearCondition:
    """The parsed condition of a near query.

    ``predicate``: a predicate with one p-attribute, which is not NULL exactly if the condition holds. ``columns``: the
    columns that it reads of both objects, sorted by name. ``warnings``: the warnings about its text as a predicate.
    """

    predicate: Predicate
    columns: tuple[CarriedColumn, ...]
    warnings: tuple[str, ...] = ()

    @property
    def sql(self) -> str:
        """Return an expression that is 1 if the condition holds for ``a`` and ``b``, and NULL otherwise. The expression
        is guarded against exceptions.
        """
        return self.predicate.read[0].sql

    @staticmethod
    def of(text: str, attributes: Schema, normalise: Callable[[str], Predicate]) -> NearCondition:
        """Parse a text as a condition over a stream's attributes. Raise QueryError if the text is not a condition.

        ``normalise`` returns the normal form of a predicate over :func:`pair_schema`.
        """
        try:
            # The text is parsed alone first. Otherwise, an invalid text might be valid only inside the CASE.
            warnings = normalise(text).warnings
            predicate = normalise(f"CASE WHEN ({text}) THEN 1 END > 0")
        except AscError as error:
            raise QueryError(
                "operator.on", text[:200], f"{error.subject} {str(error.value)!r}: {error.remedy}"
            ) from None
        paths = {path[1:] for path in predicate.columns}
        if len(predicate.read) != 1 or not paths or () in paths:
            raise QueryError("operator.on", text[:200], "is the same for every pair: name columns of a and b, as a.x")
        columns = []
        for path in sorted(paths):
            attribute = attributes.resolve(path)
            if attribute is None or not _is_scalar(attribute.type):
                name = ".".join(path)
                remedy = f"{name} is no number, text, time, boolean or binary, and no other value is carried"
                raise QueryError("operator.on", text[:200], remedy)
            columns.append(CarriedColumn(attribute.path, attribute.type))
        return NearCondition(predicate, tuple(columns), warnings)

    @property
    def carried_ddl(self) -> str:
        """Return the DDL of the values that observations carry for the condition."""
        return ", ".join(column.carried_ddl for column in self.columns)

    def object_sql(self, carried: str) -> str:
        """Return Spark SQL for ``a`` or ``b`` as a struct. ``carried``: the SQL of the struct of this object's carried
        values.
        """
        tree: dict[str, Any] = {}
        for column in self.columns:
            *parents, last = column.path
            node = tree
            for parent in parents:
                node = node.setdefault(parent, {})
            node[last] = column.received(carried)
        return _struct(tree)


def near_condition(text: str, analyser: RecordAnalyser, *, patiently: bool = False) -> NearCondition:
    """Return the condition in a text over two records of a stream. Raise QueryError if the condition is invalid, or if
    Spark refuses it.

    ``patiently``: without a time limit for Spark's answers.
    """
    pairs = analyser.over(pair_schema(analyser.attributes))
    condition = NearCondition.of(text, analyser.attributes, pairs.normalise)
    try:
        pairs.check(condition.predicate, patiently=patiently)
    except QueryError as error:
        remedy = f"{error.subject} {str(error.value)!r}: {error.remedy}"
        raise QueryError("operator.on", text[:200], remedy) from None
    return condition


def pair_schema(attributes: Schema) -> Schema:
    """Return the schema of conditions: two tuples with a stream's attributes."""
    kind = pa.struct(list(attributes.arrow))
    return Schema.from_arrow(pa.schema([pa.field(name, kind) for name in OBJECTS])).with_crs(attributes.crs)


def _struct(tree: Mapping[str, Any]) -> str:
    parts = (f"{quoted(name)}, {_struct(own) if isinstance(own, Mapping) else own}" for name, own in tree.items())
    return f"named_struct({', '.join(parts)})"


def _is_scalar(kind: pa.DataType) -> bool:
    return not (pa.types.is_nested(kind) or pa.types.is_duration(kind) or pa.types.is_interval(kind))
