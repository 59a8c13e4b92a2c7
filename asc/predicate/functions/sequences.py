"""The function ``sequence``, which generates an array from a start, an end and a step."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.binding import bound_together
from asc.predicate.functions.function import Call, Function, plain
from asc.predicate.functions.try_spellings import caught_date
from asc.predicate.syntax.interval import Interval
from asc.predicate.syntax.interval_type import DAYS
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ, Literal, date, timestamp
from asc.predicate.syntax.nodes import Node

_MAX_CONSTANT = 1_000
_MAX_ENTRIES = 10_000
"""The maximum number of entries of a sequence whose ends come from the record.

Only a record that is crafted to stall a stream requires more entries.
"""
_DAY_MICROS = 86_400 * 10**6
_MONTH_MICROS = 28 * _DAY_MICROS
"""The length of the shortest month, in microseconds."""
_GROWTH_OF_RECORD = 10.0


def _trouble(call: Call) -> str | None:
    start, stop = call.kinds[:2]
    if start in types.INTEGERS and stop in types.INTEGERS:
        if len(call.args) > 2 and call.type(2) not in types.INTEGERS:
            return f"sequence of integers takes a step that is one, not {types.name(call.type(2))}"
        return None if _is_of_record(call) else _of_constants(call)
    if types.is_instant(start) and start == stop:
        return _of_instants(call)
    return f"sequence from {types.name(start)} to {types.name(stop)}: CAST both to one type of integer or instant"


def _is_of_record(call: Call) -> bool:
    """Return whether an end or the step of the sequence comes from the record."""
    if types.is_instant(call.type(0)):
        return any(_micros(arg) is None for arg in call.args[:2])
    return any(arg.literal is None for arg in call.args)


def _of_constants(call: Call) -> str | None:
    ends = [call.constant(place) for place in range(len(call.args))]
    start, stop, step = (*ends, 1 if ends[0:1] <= ends[1:2] else -1)[:3] if None not in ends else (None, None, None)
    if not (isinstance(start, int) and isinstance(stop, int) and isinstance(step, int)):
        return "sequence takes ends that are known"
    return _too_long(start, stop, step)


def _of_instants(call: Call) -> str | None:
    if len(call.args) > 2:
        step = _step(call.args[2].node)
        if step is None or not step.amount:
            return "sequence of dates or timestamps takes a constant INTERVAL other than 0 as its step"
        if call.type(0) == pa.date32() and step.type != DAYS and not step.type.of_months:
            return "sequence of dates takes a step of days, weeks, months or years"
    start, stop = (_micros(arg) for arg in call.args[:2])
    if start is None or stop is None:
        return None
    return _too_long(start, stop, _step_micros(call) or (_DAY_MICROS if start <= stop else -_DAY_MICROS))


def _step_micros(call: Call) -> int | None:
    """Return the least length of the step of a sequence of instants, in microseconds; None if there is no step."""
    step = _step(call.args[2].node) if len(call.args) > 2 else None
    return None if step is None else step.amount * (_MONTH_MICROS if step.type.of_months else 1)


def _too_long(start: int, stop: int, step: int) -> str | None:
    """Return the reason for refusing a sequence that is too long, or whose step leads away from its end; else None.
    Spark throws for such a step.
    """
    if step == 0 or (stop - start) * step < 0 or abs(stop - start) // abs(step) >= _MAX_CONSTANT:
        return f"sequence takes a step towards its end, and has at most {_MAX_CONSTANT:,} entries"
    return None


def _step(node: Node) -> Interval | None:
    """Return the constant interval that a node denotes, also after a minus. Return None for any other node."""
    if node.op == "neg":
        step = _step(node.args[0])
        return None if step is None else Interval(step.sql, step.type, -step.amount)
    return node.value if node.op == "interval" else None


def _micros(end: Expression) -> int | None:
    """Return the end of a sequence, a constant date or timestamp, in microseconds since 1970. Return None if the
    expression is no constant.

    A local time is read as UTC, so the result differs from the instant by less than a day.
    """
    literal, text = end.literal, _text(end.node)
    if text is not None:
        value = date(text) if end.type == pa.date32() else timestamp(text, None)
    else:
        value = literal.value if literal is not None and literal.known else None
    if not isinstance(value, int):
        return None
    return value * _DAY_MICROS if end.type == pa.date32() else value


def _text(node: Node) -> str | None:
    """Return the constant text that a node casts or parses to a time.

    Return None if the node is anything else, or if it has further arguments.
    """
    reads = node.op == "call" and node.value in ("to_date", "to_timestamp", "to_timestamp_ltz", "to_timestamp_ntz")
    if not reads and node.op not in ("cast", "try_cast"):
        return None
    literal = node.args[0].value
    alone = len(node.args) == 1 and node.args[0].op == "literal" and isinstance(literal, Literal)
    return literal.value if alone and isinstance(literal.value, str) else None


def _spelled(call: Call) -> str:
    """Return SQL for ``sequence`` that is safe for every record, if an argument comes from the record.

    The SQL gives NULL if there would be too many entries, and if the step leads away from the end. Spark itself throws
    for such a step, and creates as many entries as the arguments require.
    """
    if not _is_of_record(call):
        return plain(call)
    near = f"abs({_number(call, 'p.b')} - {_number(call, 'p.a')}) <= {_MAX_ENTRIES}D * {_least_step(call)}"
    made = f"sequence({', '.join(f'p.{name}' for name in 'abc'[: len(call.args)])})"
    known = f"{caught_date(f'date_from_unix_date(size({made}))')} IS NOT NULL"
    return bound_together([arg.sql for arg in call.args], f"if({near}, if({known}, {made}, NULL), NULL)")


def _number(call: Call, end: str) -> str:
    """Return SQL for an end of the sequence as a number. The number of a date is in days, the number of a timestamp in
    microseconds.
    """
    kind = call.type(0)
    if kind == pa.date32():
        end = f"unix_date({end})"
    elif kind == TIMESTAMP:
        end = f"unix_micros({end})"
    elif kind == TIMESTAMP_NTZ:
        end = f"unix_micros({types.guarded(end, TIMESTAMP)})"
    return f"CAST({end} AS DOUBLE)"


def _least_step(call: Call) -> str:
    """Return SQL for the least distance between two entries of the sequence, in days for dates, in microseconds for
    timestamps, else as a number.
    """
    if types.is_instant(call.type(0)):
        micros = abs(_step_micros(call) or _DAY_MICROS)
        return f"{micros // _DAY_MICROS if call.type(0) == pa.date32() else micros}D"
    return "abs(CAST(p.c AS DOUBLE))" if len(call.args) > 2 else "1"


def _growth(call: Call) -> float:
    return _GROWTH_OF_RECORD if _is_of_record(call) else 1.0


def _type(call: Call) -> pa.DataType | None:
    kind = types.common(call.kinds[:2] if types.is_instant(call.type(0)) else call.kinds)
    return None if kind is None else pa.list_(kind)


SEQUENCES = {"sequence": Function(2, 3, "eew", _type, _trouble, _growth, _spelled, fails=True)}
