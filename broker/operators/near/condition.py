"""The condition of a near query: a predicate over two observations, ``a`` and ``b``, by the values that they carry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from asc.errors import AscError
from asc.predicate.normal_form import Predicate
from asc.schema import Schema
from asc.spark_types import backquoted, ddl_of_type, quoted_name
from broker.errors import QueryError

OBJECTS = ("a", "b")
"""What the two are called in conditions; ``a`` is the one with the smaller key."""

_MICROS = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


@dataclass(frozen=True, slots=True)
class CarriedColumn:
    """A column that a condition reads of both: its path in the schema's spelling, and its type, which is a scalar."""

    path: tuple[str, ...]
    type: pa.DataType

    @property
    def name(self) -> str:
        """What it is called in what observations carry: quoted, so that no other path is called so, and that it is not
        what Spark has broken JSON in.
        """
        return self.text

    @property
    def text(self) -> str:
        """It over the attributes of a record, as Spark SQL."""
        return ".".join(map(backquoted, self.path))

    @property
    def sent(self) -> str:
        """As ``text``, with values that JSON says to the last bit."""
        text = self.text
        if pa.types.is_date(self.type):
            return f"unix_date({text})"
        if pa.types.is_timestamp(self.type):
            return f"unix_micros({text})" if self.type.tz else f"timestampdiff(MICROSECOND, {_MICROS}, {text})"
        return text

    @property
    def carried_ddl(self) -> str:
        """The field of what is carried, as DDL."""
        is_number = pa.types.is_timestamp(self.type) or pa.types.is_date(self.type)
        whole = "INT" if pa.types.is_date(self.type) else "BIGINT"
        return f"{quoted_name(self.name)} {whole if is_number else ddl_of_type(self.type)}"

    def received(self, carried: str) -> str:
        """Its value in a struct of what is carried, as Spark SQL."""
        text = f"{carried}.{quoted_name(self.name)}"
        if pa.types.is_date(self.type):
            return f"date_from_unix_date({text})"
        if pa.types.is_timestamp(self.type):
            return f"timestamp_micros({text})" if self.type.tz else f"timestampadd(MICROSECOND, {text}, {_MICROS})"
        return text


@dataclass(frozen=True, slots=True)
class NearCondition:
    """A condition that was read. ``predicate``: of its one p-attribute, which has a value where it holds; ``columns``:
    what it reads of both, in the order of their names.
    """

    predicate: Predicate
    columns: tuple[CarriedColumn, ...]

    @property
    def sql(self) -> str:
        """1 where it holds of ``a`` and ``b``, NULL elsewhere, with all that keeps an expression from throwing."""
        return self.predicate.read[0].sql

    @staticmethod
    def of(text: str, attributes: Schema, normalise: Callable[[str], Predicate]) -> NearCondition:
        """That of a text over a stream's attributes, ``normalise`` being of :func:`pair_schema`. QueryError."""
        try:
            # By itself first: not so that it is one within what stands around it.
            normalise(text)
            predicate = normalise(f"CASE WHEN ({text}) THEN 1 END IS NOT NULL")
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
        return NearCondition(predicate, tuple(columns))

    @property
    def carried_ddl(self) -> str:
        """What observations carry for it, as DDL."""
        return ", ".join(column.carried_ddl for column in self.columns)

    def object_sql(self, carried: str) -> str:
        """``a`` or ``b`` as a struct, of the struct of what it carries, as Spark SQL."""
        tree: dict[str, Any] = {}
        for column in self.columns:
            *parents, last = column.path
            node = tree
            for parent in parents:
                node = node.setdefault(parent, {})
            node[last] = column.received(carried)
        return _struct(tree)


def pair_schema(attributes: Schema) -> Schema:
    """What conditions are over: two tuples with a stream's attributes."""
    kind = pa.struct(list(attributes.arrow))
    return Schema.from_arrow(pa.schema([pa.field(name, kind) for name in OBJECTS])).with_crs(attributes.crs)


def carried_sql(columns: Iterable[tuple[str, str]]) -> str:
    """What observations carry, by name and as Spark SQL over the attributes, as Spark SQL: a text, NULL for nothing."""
    fields = ", ".join(f"{quoted_text(name)}, {sql}" for name, sql in columns)
    return f"to_json(named_struct({fields}))" if fields else "CAST(NULL AS STRING)"


def _struct(tree: Mapping[str, Any]) -> str:
    parts = (f"{quoted_text(name)}, {_struct(own) if isinstance(own, Mapping) else own}" for name, own in tree.items())
    return f"named_struct({', '.join(parts)})"


def quoted_text(name: str) -> str:
    """Return a text as a literal of Spark SQL."""
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _is_scalar(kind: pa.DataType) -> bool:
    return not (pa.types.is_nested(kind) or pa.types.is_duration(kind) or pa.types.is_interval(kind))
