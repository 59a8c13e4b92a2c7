"""Rewritten calls for which Spark gives NULL instead of throwing.

Spark's ``try_add`` of a date or timestamp and ``try_to_binary`` catch every exception in their operands. The SQL text
contains the enclosed call once, so the length of nested calls does not multiply.
"""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.function import Call, Spelling, plain
from asc.predicate.syntax.literal import TIMESTAMP


def caught_date(sql: str) -> str:
    """Return SQL for a date that is NULL if evaluating ``sql`` throws."""
    return f"try_add({sql}, 0)"


def caught_instant(sql: str) -> str:
    """Return SQL for a timestamp that is NULL if evaluating ``sql`` throws."""
    return f"try_add({sql}, INTERVAL '0' SECOND)"


def caught_bytes(sql: str) -> str:
    """Return SQL for a BINARY that is NULL if evaluating ``sql`` throws."""
    return f"try_to_binary(hex({sql}), 'hex')"


def caught_text(sql: str) -> str:
    """Return SQL for a string that is NULL if evaluating ``sql`` throws."""
    return f"CAST(try_to_binary({sql}, 'utf-8') AS STRING)"


def renamed(name: str) -> Spelling:
    """Return a spelling (a function that writes the SQL of a call) that calls the function ``name``, which gives NULL
    if the original function would throw.
    """
    return lambda call: f"{name}({', '.join(arg.sql for arg in call.args)})"


def as_date(call: Call) -> str:
    return caught_date(plain(call))


def as_instant(call: Call) -> str:
    return caught_instant(plain(call))


def as_bytes(call: Call) -> str:
    return caught_bytes(plain(call))


def as_text(call: Call) -> str:
    return caught_text(plain(call))


def as_instant_of(place: int, target: pa.DataType = TIMESTAMP) -> Spelling:
    """Return a spelling (a function that writes the SQL of a call) that casts the argument at ``place`` to ``target``.
    The SQL gives NULL if the call throws.
    """
    return lambda call: caught_instant(_with(call, place, target))


def with_short_number(call: Call, place: int) -> str:
    """Return the SQL text of the call in which the argument at ``place`` is truncated if it may be a text.

    The argument is truncated to MAX_DIGITS characters, because Java takes time quadratic in the length to parse a
    decimal.
    """
    args = [
        f"left({arg.sql}, {types.MAX_DIGITS})" if i == place and arg.type in (None, pa.string()) else arg.sql
        for i, arg in enumerate(call.args)
    ]
    return f"{call.name}({', '.join(args)})"


def cast_to(target: pa.DataType, arg: Expression) -> str:
    """Return SQL for an argument that Spark casts to a timestamp; the argument is NULL if the cast throws.

    The cast needs this protection even within a call that catches exceptions: Spark may compute a cast that several
    calls share outside these calls.
    """
    return types.guarded(arg.sql, target) if arg.type is None or types.needs_guard(arg, target) else arg.sql


def as_together(places: slice = slice(None)) -> Spelling:
    """Return a spelling (a function that writes the SQL of a call) that casts dates and timestamps of several types to
    one type.

    ``places``: the positions of the arguments that are cast.
    """

    def spelled(call: Call) -> str:
        target = types.together(call.kinds[places])
        chosen = range(len(call.args))[places] if target is not None else ()
        texts = [cast_to(target, arg) if i in chosen else arg.sql for i, arg in enumerate(call.args)]
        return f"{call.name}({', '.join(texts)})"

    return spelled


def _with(call: Call, place: int, target: pa.DataType) -> str:
    args = [cast_to(target, arg) if i == place else arg.sql for i, arg in enumerate(call.args)]
    return f"{call.name}({', '.join(args)})"
