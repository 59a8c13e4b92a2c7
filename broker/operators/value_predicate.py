"""Predicates that read the value of an expression of any type."""

from __future__ import annotations

import pyarrow as pa

from asc.keys.spaces import space_of
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema


def value_predicate(sql: str, attributes: Schema, time_zone: str) -> str:
    """Return a predicate whose one p-attribute has the value of an expression. Raise PredicateError if ``sql`` is not a
    valid expression.

    The predicate reads a computed boolean as 0 and 1, because the engine would otherwise evaluate the parts of the
    boolean as separate p-attributes. It reads an array, map or struct as 1, because only NULL or not NULL matters.
    ``time_zone``: the time zone of literals.

    >>> schema = Schema.from_ddl("n INT, s STRING, l ARRAY<INT>")
    >>> for sql in ("n", "n + 1", "s > 'a'", "lower(s)", "l"):
    ...     print(value_predicate(sql, schema, "UTC"))
    (n) IS NOT NULL
    (n + 1) >= 0
    CAST((s > 'a') AS INT) >= 0
    (lower(s)) >= ''
    CASE WHEN (l) IS NOT NULL THEN 1 END >= 0
    """
    node, source = parse(sql, Limits(), time_zone)
    found = Typer(source, attributes).of(node)
    kind = found.type
    if kind is None or space_of(kind) is None:
        return f"CASE WHEN ({sql}) IS NOT NULL THEN 1 END >= 0"
    if found.path is not None:
        return f"({sql}) IS NOT NULL"
    # A null test of an expression that may throw reads whether it is NULL, and not the value.
    if pa.types.is_boolean(kind):
        return f"CAST(({sql}) AS INT) >= 0"
    if pa.types.is_string(kind):
        return f"({sql}) >= ''"
    if pa.types.is_binary(kind):
        return f"({sql}) >= X''"
    if pa.types.is_date(kind):
        return f"({sql}) >= DATE '1970-01-01'"
    if pa.types.is_timestamp(kind):
        # The engine knows the instant of this literal in each time zone. For one before 2000, Spark would have to
        # compare.
        return f"({sql}) >= {'TIMESTAMP_NTZ' if kind.tz is None else 'TIMESTAMP'} '2001-01-01 00:00:00'"
    return f"({sql}) >= 0"
