"""Functions of dates and timestamps."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.functions.function import Call, Check, Function, Spelling, plain
from asc.predicate.functions.pattern_argument import (
    brings_pattern,
    longest_shown,
    pattern_check,
    pattern_of,
    shown_by_pattern,
)
from asc.predicate.functions.results import BIGINT, DATE, DOUBLE, INSTANT, INT, LOCAL_INSTANT, STRING
from asc.predicate.functions.time_zone import is_time_zone
from asc.predicate.functions.try_spellings import (
    as_date,
    as_instant,
    as_instant_of,
    cast_to,
    caught_instant,
    with_short_number,
)
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ

_READ = (pa.string(), pa.null(), pa.date32(), TIMESTAMP, TIMESTAMP_NTZ)
"""The types of a first argument that Spark accepts together with a time pattern. The SQL casts a value of any other
type to text first.
"""
_DAY_COUNTS = (pa.int8(), pa.int16(), pa.int32(), pa.null())
_DAY_COUNT = re.compile(r"\s*[+-]?[0-9]{1,9}\s*\Z")
_DEFAULT_PATTERN = "'yyyy-MM-dd HH:mm:ss'"


def _shown(call: Call) -> str:
    first = cast_to(TIMESTAMP, call.args[0]) if call.name != "from_unixtime" else call.args[0].sql
    return shown_by_pattern(call, first) if len(call.args) > 1 else f"{call.name}({first})"


def _zone(place: int) -> Check:
    """Return a check that the argument at ``place``, if it is a constant, is a time zone that Spark knows.

    For an unknown zone from a column, the SQL of the call gives NULL.
    """

    def check(call: Call) -> str | None:
        name = call.constant(place)
        if name is None or (isinstance(name, str) and is_time_zone(name)):
            return None
        return f"unknown time zone given to {call.name}: write one such as 'Europe/Berlin' or '+01:00'"

    return check


def _readable(call: Call) -> str | None:
    """Return the reason for refusing a call whose first argument cannot be parsed as a date or timestamp; else None.

    A number can be parsed only without a pattern. A constant pattern must be an allowed one.
    """
    if call.type(0) is None:
        return f"{call.name} of {types.name(None)}: CAST it to STRING or TIMESTAMP"
    if len(call.args) > 1 and types.is_number(call.type(0)) and call.name != "to_timestamp_ntz":
        return f"{call.name} reads no {types.name(call.type(0))} with a pattern: CAST it to STRING"
    return pattern_check(parses=True)(call)


def _read(target: pa.DataType) -> Spelling:
    """Return a spelling (a function that writes the SQL of a call) for a function that parses an instant. The SQL gives
    NULL on failure.

    With a pattern, Spark accepts a value that already is a date or timestamp without a cast.
    """

    def spelled(call: Call) -> str:
        if len(call.args) == 1:
            return as_instant_of(0, target)(call)
        return caught_instant(f"{call.name}({call.args[0].sql}, {pattern_of(call)})")

    return spelled


def _read_date(call: Call) -> str:
    """Return SQL for ``to_date`` with a pattern as the date of the parsed timestamp, as Spark computes it."""
    if len(call.args) == 1:
        return plain(call)
    text = call.args[0].sql if call.type(0) in _READ else f"CAST({call.args[0].sql} AS STRING)"
    return f"CAST({caught_instant(f'to_timestamp({text}, {pattern_of(call)})')} AS DATE)"


def _seconds_of(call: Call) -> str:
    """Return SQL for ``unix_timestamp``. A text is parsed as a timestamp; the result is NULL if the text is no
    timestamp.
    """
    if call.type(0) == TIMESTAMP_NTZ:
        return f"unix_timestamp({call.args[0].sql})"
    if call.type(0) != pa.string():
        return f"unix_timestamp({cast_to(TIMESTAMP, call.args[0])})"
    pattern = pattern_of(call) if len(call.args) > 1 else _DEFAULT_PATTERN
    return f"unix_timestamp({caught_instant(f'to_timestamp({call.args[0].sql}, {pattern})')})"


def _days(call: Call) -> str | None:
    """Return the reason for refusing a call unless its number of days is an INT or narrower, or a constant text of an
    INT; None if it is.

    Spark accepts no other arguments.
    """
    text = call.constant(1)
    if call.type(1) in _DAY_COUNTS or (isinstance(text, str) and _DAY_COUNT.match(text)):
        return None
    return f"argument 2 of {call.name} is {types.name(call.type(1))}, not an INT"


def _clock(call: Call) -> str:
    """Return SQL for ``hour``, ``minute`` or ``second``. A date is cast to the timestamp at which its day starts."""
    arg = call.args[0]
    return f"{call.name}({cast_to(TIMESTAMP, arg) if arg.type == pa.date32() else arg.sql})"


def _months_between(call: Call) -> str:
    """Return SQL for ``months_between`` that is NULL if a timestamp's day starts before the least timestamp.

    Spark's own function throws for such a timestamp.
    """
    safe = []
    for arg in call.args[:2]:
        instant = f"CAST({arg.sql} AS TIMESTAMP)" if arg.type in (pa.string(), pa.null()) else cast_to(TIMESTAMP, arg)
        safe.append(f"try_add(try_subtract({instant}, INTERVAL '2' DAY), INTERVAL '2' DAY)")
    return f"months_between({', '.join([*safe, *(arg.sql for arg in call.args[2:])])})"


def _zones_and_time(call: Call) -> str | None:
    for place in range(len(call.args) - 1):
        trouble = _zone(place)(call)
        if trouble:
            return trouble
    return None


def _converted(call: Call) -> str:
    return as_instant_of(len(call.args) - 1, TIMESTAMP_NTZ)(call)


def _made(call: Call) -> str:
    return caught_instant(with_short_number(call, 5))


def _of_parts(prefix: str, sorts: str, *, fails: bool) -> dict[str, Function]:
    """Return the functions that construct a timestamp from year, month, day, hour, minute and second.

    Functions that return a timestamp with time zone accept the zone as an optional last argument.
    """
    zoned = Function(6, 7, sorts, INSTANT, _zone(6), spelling=_made, fails=fails)
    local = Function(6, 6, sorts, LOCAL_INSTANT, spelling=_made, fails=fails)
    return {
        f"{prefix}make_timestamp": zoned,
        f"{prefix}make_timestamp_ltz": zoned,
        f"{prefix}make_timestamp_ntz": local,
    }


def _reads_text(call: Call) -> bool:
    return call.type(0) not in (pa.null(), pa.date32(), TIMESTAMP, TIMESTAMP_NTZ)


def _table() -> dict[str, Function]:
    field = Function(1, 1, "t", INT)
    days = "year quarter month day dayofmonth dayofweek weekday dayofyear weekofyear"
    shown = pattern_check(parses=False)
    zoned = Function(2, 2, "tS", INSTANT, _zone(1), spelling=as_instant_of(0))
    seconds = Function(1, 2, "tS", BIGINT, _readable, spelling=_seconds_of)
    return {
        **dict.fromkeys(days.split(), field),
        **dict.fromkeys(("hour", "minute", "second"), Function(1, 1, "t", INT, spelling=_clock)),
        **dict.fromkeys(("dayname", "monthname"), Function(1, 1, "t", STRING)),
        **dict.fromkeys(("datediff", "date_diff"), Function(2, 2, "t", INT)),
        **dict.fromkeys(("date_add", "date_sub", "dateadd"), Function(2, 2, "ti", DATE, _days)),
        "add_months": Function(2, 2, "tn", DATE, spelling=as_date),
        "months_between": Function(2, 3, "ttb", DOUBLE, spelling=_months_between),
        "last_day": Function(1, 1, "t", DATE),
        "next_day": Function(2, 2, "ts", DATE),
        "trunc": Function(2, 2, "ts", DATE, spelling=as_date),
        "date_trunc": Function(2, 2, "st", INSTANT, spelling=as_instant_of(1)),
        "date_format": Function(2, 2, "tS", STRING, shown, longest_shown, _shown, brings_pattern),
        "from_unixtime": Function(1, 2, "nS", STRING, shown, longest_shown, _shown, brings_pattern),
        "date_from_unix_date": Function(1, 1, "n", DATE),
        "timestamp_seconds": Function(1, 1, "N", INSTANT, spelling=as_instant),
        **dict.fromkeys(("timestamp_millis", "timestamp_micros"), Function(1, 1, "I", INSTANT, spelling=as_instant)),
        "to_date": Function(1, 2, "rS", DATE, pattern_check(parses=True), spelling=_read_date, fails=_reads_text),
        "to_timestamp": Function(1, 2, "rS", INSTANT, _readable, spelling=_read(TIMESTAMP), fails=_reads_text),
        "to_timestamp_ltz": Function(1, 2, "rS", INSTANT, _readable, spelling=_read(TIMESTAMP), fails=_reads_text),
        "to_timestamp_ntz": Function(
            1, 2, "rS", LOCAL_INSTANT, _readable, spelling=_read(TIMESTAMP_NTZ), fails=_reads_text
        ),
        "try_to_timestamp": Function(1, 2, "rS", INSTANT, _readable, spelling=_read(TIMESTAMP)),
        **dict.fromkeys(("unix_timestamp", "to_unix_timestamp"), seconds),
        "make_date": Function(3, 3, "n", DATE, spelling=as_date, fails=True),
        **_of_parts("", "nnnnnnS", fails=True),
        **_of_parts("try_", "nnnnnnS", fails=False),
        **dict.fromkeys(("from_utc_timestamp", "to_utc_timestamp"), zoned),
        "convert_timezone": Function(2, 3, "sz", LOCAL_INSTANT, _zones_and_time, spelling=_converted),
        "unix_date": Function(1, 1, "D", INT),
        **dict.fromkeys(("unix_seconds", "unix_millis", "unix_micros"), Function(1, 1, "T", BIGINT)),
    }


INSTANTS = _table()
