"""Sequences of integers, dates and timestamps, of which each end is a constant."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate import types
from asc.predicate.expression import Expression
from asc.predicate.functions.function import Call, Function
from asc.predicate.interval import Interval
from asc.predicate.interval_type import DAYS
from asc.predicate.literal import TIMESTAMP, TIMESTAMP_NTZ, Literal, date, timestamp
from asc.predicate.syntax import Node

_MAX_ENTRIES = 1_000
_DAY_MICROS = 86_400 * 10**6
_MONTH_MICROS = 28 * _DAY_MICROS
"""At least so long is a month."""


def _short_sequence(call: Call) -> str | None:
    """Spark throws for a step that leads away from the end."""
    if any(types.is_instant(kind) for kind in call.kinds[:2]):
        return _short_sequence_of_instants(call)
    if not all(kind in types.INTEGERS for kind in call.kinds):
        return f"sequence of {' and '.join(map(types.name, call.kinds))}: CAST them to one type"
    ends = [call.constant(place) for place in range(len(call.args))]
    start, stop, step = (*ends, 1 if ends[0:1] <= ends[1:2] else -1)[:3] if None not in ends else (None, None, None)
    if not (isinstance(start, int) and isinstance(stop, int) and isinstance(step, int)):
        return "sequence takes constants: compare with its ends instead"
    return _trouble(start, stop, step)


def _short_sequence_of_instants(call: Call) -> str | None:
    if call.type(0) != call.type(1):
        return f"sequence of {types.name(call.type(0))} and {types.name(call.type(1))}: CAST them to one type"
    start, stop = (_micros(arg) for arg in call.args[:2])
    if start is None or stop is None:
        return "sequence takes constants, such as DATE '2024-01-31': compare with its ends instead"
    if len(call.args) < 3:
        return _trouble(start, stop, _DAY_MICROS if start <= stop else -_DAY_MICROS)
    step = _step(call.args[2].node)
    if step is None:
        return "sequence takes a constant INTERVAL as its step"
    if call.type(0) == pa.date32() and step.type != DAYS and not step.type.of_months:
        return "sequence of dates takes a step of days, weeks, months or years"
    return _trouble(start, stop, step.amount * (_MONTH_MICROS if step.type.of_months else 1))


def _trouble(start: int, stop: int, step: int) -> str | None:
    if step == 0 or (stop - start) * step < 0 or abs(stop - start) // abs(step) >= _MAX_ENTRIES:
        return f"sequence takes a step towards its end, and has at most {_MAX_ENTRIES:,} entries"
    return None


def _step(node: Node) -> Interval | None:
    """The constant interval of a node, turned round where a minus stands before it."""
    if node.op == "neg":
        step = _step(node.args[0])
        return None if step is None else Interval(step.sql, step.type, -step.amount)
    return node.value if node.op == "interval" else None


def _micros(end: Expression) -> int | None:
    """A constant date or timestamp, local ones as in UTC: within a day of what it is."""
    literal, text = end.literal, _text(end.node)
    if text is not None:
        value = date(text) if end.type == pa.date32() else timestamp(text, None)
    else:
        value = literal.value if literal is not None and literal.known else None
    if not isinstance(value, int):
        return None
    return value * _DAY_MICROS if end.type == pa.date32() else value


def _text(node: Node) -> str | None:
    """The text that a cast, or a call that reads a time, is given alone."""
    reads = node.op == "call" and node.value in ("to_date", "to_timestamp", "to_timestamp_ltz", "to_timestamp_ntz")
    if not reads and node.op not in ("cast", "try_cast"):
        return None
    literal = node.args[0].value
    alone = len(node.args) == 1 and node.args[0].op == "literal" and isinstance(literal, Literal)
    return literal.value if alone and isinstance(literal.value, str) else None


def _array_of_ends(call: Call) -> pa.DataType | None:
    kind = types.common(call.kinds[:2]) if call.kinds[0] in (pa.date32(), TIMESTAMP, TIMESTAMP_NTZ) else None
    kind = types.common(call.kinds) if kind is None else kind
    return None if kind is None else pa.list_(kind)


SEQUENCE = Function(2, 3, "eew", _array_of_ends, _short_sequence)
