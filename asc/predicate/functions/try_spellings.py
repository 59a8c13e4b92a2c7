"""Calls that can throw, written so that Spark gives NULL instead.

Spark's ``try_add`` of a date or timestamp and ``try_to_binary`` catch whatever goes wrong below them. They name the
enclosed call once, so that calls nest without the text growing beyond them.
"""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.function import Call, Spelling, plain
from asc.predicate.syntax.literal import TIMESTAMP


def caught_date(sql: str) -> str:
    """Return a date, NULL where it cannot be computed."""
    return f"try_add({sql}, 0)"


def caught_instant(sql: str) -> str:
    """Return a timestamp, NULL where it cannot be computed."""
    return f"try_add({sql}, INTERVAL '0' SECOND)"


def caught_bytes(sql: str) -> str:
    """Spell an expression of type BINARY as NULL where it cannot be computed."""
    return f"try_to_binary(hex({sql}), 'hex')"


def caught_text(sql: str) -> str:
    """Return a string, NULL where it cannot be computed."""
    return f"CAST(try_to_binary({sql}, 'utf-8') AS STRING)"


def renamed(name: str) -> Spelling:
    """Return the call of another function, which is NULL where this one throws."""
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
    """Return the call, caught, with the argument at a place cast to a timestamp."""
    return lambda call: caught_instant(_with(call, place, target))


def with_short_number(call: Call, place: int) -> str:
    """Return the call, with the argument at a place no longer than what is read as a decimal, where it
    may be a text.
    """
    args = [
        f"left({arg.sql}, {types.MAX_DIGITS})" if i == place and arg.type in (None, pa.string()) else arg.sql
        for i, arg in enumerate(call.args)
    ]
    return f"{call.name}({', '.join(args)})"


def cast_to(target: pa.DataType, arg: Expression) -> str:
    """Return an argument that Spark casts to a timestamp, NULL where that cast throws.

    Spelled out within what is caught as well: Spark may compute a cast that several calls share outside of them.
    """
    return types.guarded(arg.sql, target) if arg.type is None or types.needs_guard(arg, target) else arg.sql


def as_together(places: slice = slice(None)) -> Spelling:
    """Return the call, with those of its arguments at these places that are instants of several types cast to one of
    them.
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
