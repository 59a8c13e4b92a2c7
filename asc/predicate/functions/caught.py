"""Calls that can throw, written so that Spark gives NULL instead.

Spark's ``try_add`` of a date or timestamp and ``try_to_binary`` catch whatever goes wrong below them. They name what
they stand around once, so that calls nest without the text growing beyond them.
"""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expression import Expression
from asc.predicate.functions.function import Call, Spelling, plain
from asc.predicate.literal import TIMESTAMP, TIMESTAMP_NTZ


def caught_date(sql: str) -> str:
    """A date, NULL where it cannot be computed."""
    return f"try_add({sql}, 0)"


def caught_instant(sql: str) -> str:
    """A timestamp, NULL where it cannot be computed."""
    return f"try_add({sql}, INTERVAL '0' SECOND)"


def caught_bytes(sql: str) -> str:
    """Binary, NULL where it cannot be computed."""
    return f"try_to_binary(CAST({sql} AS STRING), 'utf-8')"


def caught_text(sql: str) -> str:
    """A string, NULL where it cannot be computed."""
    return f"CAST(try_to_binary({sql}, 'utf-8') AS STRING)"


def as_date(call: Call) -> str:
    return caught_date(plain(call))


def as_instant(call: Call) -> str:
    return caught_instant(plain(call))


def as_bytes(call: Call) -> str:
    return caught_bytes(plain(call))


def as_text(call: Call) -> str:
    return caught_text(plain(call))


def timestamp_argument(arg: Expression) -> str:
    """An argument that Spark casts to a timestamp, where that cast of it throws for dates of far years."""
    if arg.type in (TIMESTAMP, TIMESTAMP_NTZ, pa.string(), pa.null()) or (arg.literal and arg.literal.known):
        return arg.sql
    return caught_instant(f"CAST({arg.sql} AS TIMESTAMP)")


def with_timestamps(*places: int) -> Spelling:
    """The call, with the arguments at these places as timestamps."""

    def spelling(call: Call) -> str:
        args = [timestamp_argument(arg) if i in places else arg.sql for i, arg in enumerate(call.args)]
        return f"{call.name}({', '.join(args)})"

    return spelling
