"""``sequence``: arrays that are made of their ends."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate import types
from asc.predicate.functions.binding import bound_together
from asc.predicate.functions.caught import caught_date
from asc.predicate.functions.function import Call, Function, plain
from asc.predicate.interval_type import DAYS, IntervalType
from asc.predicate.literal import TIMESTAMP, TIMESTAMP_NTZ
from asc.predicate.syntax import Node

_MAX_CONSTANT = 1_000
_MAX_ENTRIES = 10_000
"""Of a sequence whose ends the record gives. There are no more but where a record is made to stall a stream."""
_LEAST_DAYS_OF_MONTH = 28
_GROWTH_OF_RECORD = 10.0
_INSTANTS = (pa.date32(), TIMESTAMP, TIMESTAMP_NTZ)


def _trouble(call: Call) -> str | None:
    start, stop = call.kinds[:2]
    if start in types.INTEGERS and stop in types.INTEGERS:
        if len(call.args) > 2 and call.type(2) not in types.INTEGERS:
            return f"sequence of integers takes a step that is one, not {types.name(call.type(2))}"
        return _constants(call) if all(arg.literal is not None for arg in call.args) else None
    if start in _INSTANTS and start == stop:
        return _step(call)
    return f"sequence from {types.name(start)} to {types.name(stop)}: CAST both to one type of integer or instant"


def _constants(call: Call) -> str | None:
    """Spark throws for a step that leads away from the end."""
    ends = [call.constant(place) for place in range(len(call.args))]
    start, stop, step = (*ends, 1 if ends[0:1] <= ends[1:2] else -1)[:3] if None not in ends else (None, None, None)
    if not (isinstance(start, int) and isinstance(stop, int) and isinstance(step, int)):
        return "sequence takes ends that are known"
    if step == 0 or (stop - start) * step < 0 or abs(stop - start) // abs(step) >= _MAX_CONSTANT:
        return f"sequence takes a step towards its end, and has at most {_MAX_CONSTANT:,} entries"
    return None


def _step(call: Call) -> str | None:
    if not all(map(_is_constant, (arg.node for arg in call.args))):
        return "sequence of dates and timestamps takes ends that are constant: compare with them instead"
    if len(call.args) < 3:
        return None
    step = call.args[2].node
    step = step.args[0] if step.op in ("neg", "pos") else step
    if step.op != "interval" or not (step.value.type.of_months or step.value.type == DAYS):
        return "sequence of dates and timestamps takes a step of whole days, months or years: INTERVAL 1 DAY"
    return None


def _is_constant(node: Node) -> bool:
    return node.op != "column" and all(map(_is_constant, node.args))


def _spelled(call: Call) -> str:
    """Spark throws for a step that leads away from the end, and makes as many entries as it is told."""
    if all(arg.literal is not None for arg in call.args):
        return plain(call)
    if call.type(0) in types.INTEGERS:
        step = "abs(CAST(p.c AS DOUBLE))" if len(call.args) > 2 else "1"
        near = f"abs(CAST(p.b AS DOUBLE) - CAST(p.a AS DOUBLE)) <= {_MAX_ENTRIES}D * {step}"
    else:
        days = _LEAST_DAYS_OF_MONTH if len(call.args) > 2 and _of_months(call.type(2)) else 1
        near = f"abs(datediff(p.b, p.a)) <= {_MAX_ENTRIES * days}"
    made = f"sequence({', '.join(f'p.{name}' for name in 'abc'[: len(call.args)])})"
    known = f"{caught_date(f'date_from_unix_date(size({made}))')} IS NOT NULL"
    return bound_together([arg.sql for arg in call.args], f"if({near}, if({known}, {made}, NULL), NULL)")


def _of_months(kind: pa.DataType | None) -> bool:
    return isinstance(kind, IntervalType) and kind.of_months


def _growth(call: Call) -> float:
    return 1.0 if all(arg.literal is not None for arg in call.args) else _GROWTH_OF_RECORD


def _type(call: Call) -> pa.DataType | None:
    kind = types.common(call.kinds[:2] if call.type(0) in _INSTANTS else call.kinds)
    return None if kind is None else pa.list_(kind)


SEQUENCES = {"sequence": Function(2, 3, "eew", _type, _trouble, _growth, _spelled, fails=True)}
