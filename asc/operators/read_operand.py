"""Operands of operators: scalar expressions over a record, analysed like the expressions of predicates."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from asc.predicate import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

BINARY_KEY_REMEDY = "is BINARY: use hex() or base64() of it, or CAST it to STRING where it is UTF-8"
"""The remedy in the error for a key of type BINARY. Keys are texts, and most bytes are not UTF-8, so different keys
would get the same text.
"""


@dataclass(frozen=True, slots=True)
class ReadOperand:
    """The analysis of an expression over the records of a schema.

    ``type``: the type of the values; None if it is not known without Spark. ``path``: the names from the column to the
    nested field; None if the expression is no plain column or field. ``is_constant``: whether the value is the same for
    every record. ``warnings``: warnings about the expression. ``columns``: the paths of all columns that it names.
    """

    type: pa.DataType | None
    path: tuple[str, ...] | None
    is_constant: bool
    warnings: tuple[str, ...]
    columns: frozenset[tuple[str, ...]]


def read_operand(sql: str, schema: Schema, time_zone: str) -> ReadOperand:
    """Return the analysis of an expression. Raise PredicateError if the expression is invalid, has a type error or is
    not allowed.

    >>> found = read_operand("delay / 60", Schema.from_ddl("delay INT"), "UTC")
    >>> str(found.type), found.path, found.is_constant
    ('double', None, False)
    """
    node, source = parse(sql, Limits(), time_zone)
    typer = Typer(source, schema)
    expression = typer.of(node)
    return ReadOperand(
        expression.type, expression.path, not typer.columns, tuple(source.warnings), frozenset(typer.columns)
    )
