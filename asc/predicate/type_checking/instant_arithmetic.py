"""Arithmetic with dates, timestamps and intervals, spelled so that it cannot throw.

Spark's operators throw outside the range of timestamps, even with ANSI mode off. Spark's ``try_add`` and
``try_subtract`` compute the same and return NULL outside that range. They also return NULL if an operand throws.
"""

from __future__ import annotations

from types import MappingProxyType

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression
from asc.predicate.expressions.expression_typer import ExpressionTyper
from asc.predicate.functions.try_spellings import caught_date, caught_instant, caught_text
from asc.predicate.syntax.interval_type import CALENDAR, DAY_TIME, DAYS, FIELDS, IntervalType
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ
from asc.predicate.syntax.nodes import Node
from asc.predicate.type_checking.interval_arithmetic import TRIED, TRIED_AS, interval_arithmetic

INSTANT_FUNCTIONS = frozenset(("timestampadd", "timestampdiff", "extract", "date_part", "datepart"))
"""The functions of dates, timestamps and intervals whose calls :func:`instant_call` types."""

_DAYS = (pa.int8(), pa.int16(), pa.int32(), pa.null())
_DATE_LIST = """
YEAR Y YEARS YR YRS YEAROFWEEK QUARTER QTR MONTH MON MONS MONTHS WEEK W WEEKS DAY D DAYS DAYOFWEEK DOW DAYOFWEEK_ISO
DOW_ISO DOY
"""
_CLOCK_LIST = "HOUR H HOURS HR HRS MINUTE M MIN MINS MINUTES"
_SECOND_LIST = "SECOND S SEC SECONDS SECS"
_INTERVAL_FIELDS = MappingProxyType(
    {
        alias: (field, data_type)
        for field, data_type, aliases in (
            ("YEAR", pa.int32(), "YEAR Y YEARS YR YRS"),
            ("MONTH", pa.int8(), "MONTH MON MONS MONTHS"),
            ("DAY", pa.int32(), "DAY D DAYS"),
            ("HOUR", pa.int8(), "HOUR H HOURS HR HRS"),
            ("MINUTE", pa.int8(), "MINUTE M MIN MINS MINUTES"),
            ("SECOND", pa.decimal128(8, 6), _SECOND_LIST),
        )
        for alias in aliases.split()
    }
)
"""For each name of a field of intervals: the field and its type."""
_DATE_FIELDS = frozenset(_DATE_LIST.split())
_CLOCK_FIELDS = frozenset(_CLOCK_LIST.split())
_SECOND_FIELDS = frozenset(_SECOND_LIST.split())


def instant_arithmetic(typer: ExpressionTyper, node: Node, left: Expression, right: Expression) -> Expression | None:
    """Return the typed expression of ``left + right`` or ``left - right`` if an operand is an instant (date or
    timestamp) or interval. Return None for other operands.

    Raise PredicateError if the operands are refused.
    """
    kinds = (left.type, right.type)
    if not any(types.is_instant(kind) or types.is_interval(kind) for kind in kinds):
        return None
    op = TRIED.get(node.value, "") if node.op == "call" else node.op
    made = None
    if any(types.is_interval(kind) for kind in kinds):
        made = interval_arithmetic(typer, node, op, left, right)
    if made is None and op in ("+", "-"):
        made = _sum(typer, node, op, left, right)
    if made is not None and node.op != "call" and not typer.catches:
        return typer.operator(node, op.upper(), left, right, made.type)
    if made is not None:
        return made
    names = f"{types.name(left.type)} {op} {types.name(right.type)}:"
    raise typer.source.error_at(node, names, "a date takes whole days, an instant an INTERVAL, an interval a number")


def _sum(typer: ExpressionTyper, node: Node, op: str, left: Expression, right: Expression) -> Expression | None:
    """Return the typed expression of a sum or difference with a date or timestamp, or with a text that Spark casts to
    one.

    Return None if Spark has no such operation.
    """
    if types.is_interval(right.type) and types.is_instant(left.type):
        return _shifted(typer, node, op, left, right)
    if op == "+" and types.is_interval(left.type) and types.is_instant(right.type):
        return _shifted(typer, node, op, right, left)
    if op == "-" and types.is_instant(left.type) and types.is_instant(right.type):
        target = types.common_instant([left.type, right.type])
        result = DAYS if target is None else DAY_TIME
        return Expression(f"try_subtract({_as(left, target)}, {_as(right, target)})", result, node)
    if left.type == pa.string() and op == "-" and right.type == pa.date32():
        return Expression(f"try_subtract({left.sql}, {right.sql})", DAYS, node)
    texts = (left.type, right.type) if op == "-" else tuple(sorted((left.type, right.type), key=types.is_interval))
    if texts[0] == pa.string() and (texts[1] == CALENDAR or _of_micros(texts[1])):
        # Spark parses the text as a timestamp, and the result is a text.
        return Expression(f"{TRIED_AS[op]}({left.sql}, {right.sql})", pa.string(), node)
    if left.type == pa.date32() and right.type in _DAYS:
        return typer.operator(node, op, left, right, pa.date32())
    if op == "+" and left.type in _DAYS and right.type == pa.date32():
        return typer.operator(node, op, left, right, pa.date32())
    if op == "-" and pa.null() in (left.type, right.type):
        return typer.operator(node, op, left, right, DAYS if pa.date32() in (left.type, right.type) else DAY_TIME)
    return None


def _of_micros(kind: pa.DataType | None) -> bool:
    return isinstance(kind, IntervalType) and not kind.of_months


def _shifted(typer: ExpressionTyper, node: Node, op: str, instant: Expression, interval: Expression) -> Expression:
    """Return the typed expression of an instant (date or timestamp) plus or minus an interval."""
    if instant.type == pa.date32() and interval.type == CALENDAR:
        # Spark's try_add does not accept an interval with hours here.
        return Expression(caught_date(f"{instant.argument} {op} {interval.argument}"), pa.date32(), node)
    stays = instant.type != pa.date32() or interval.type == DAYS or not _of_micros(interval.type)
    result = instant.type if stays else TIMESTAMP
    texts = [_as(instant, result), interval.sql]
    if node.args[0] is not instant.node:
        texts.reverse()
    return Expression(f"{TRIED_AS[op]}({', '.join(texts)})", result, node)


def _as(instant: Expression, target: pa.DataType | None) -> str:
    """Return SQL for a date or timestamp. If Spark's implicit cast to ``target`` may throw, the SQL has an explicit
    cast that gives NULL instead.

    ``target`` is None if there is no cast. Spark itself would cast within try_add or try_subtract. But if several
    expressions share the cast, Spark may compute it outside these functions, where an exception is not caught.
    """
    if target in (None, instant.type) or not types.needs_guard(instant, target):
        return instant.sql
    return types.guarded(instant.sql, target)


def instant_call(typer: ExpressionTyper, node: Node) -> Expression:
    """Return the typed expression of a call of one of INSTANT_FUNCTIONS. Raise PredicateError for a call that is
    refused.
    """
    wanted = 3 if node.value in ("timestampadd", "timestampdiff") else 2
    if len(node.args) != wanted:
        raise typer.source.error_at(node, "call of a function", f"{node.value} takes {wanted} arguments")
    first, *others = [typer.of(arg) for arg in node.args]
    if first.type == pa.null() and wanted == 2:
        return Expression(f"{node.value}(NULL, {others[0].sql})", pa.float64(), node)
    if first.literal is None or not isinstance(first.literal.value, str):
        raise typer.source.error_at(first.node, f"argument 1 of {node.value}", "name a field: 'YEAR', 'HOUR', ...")
    word = first.literal.value
    if node.value == "timestampadd":
        return _timestamp_added(typer, node, word, *others)
    if node.value == "timestampdiff":
        return _timestamp_difference(typer, node, word, *others)
    return _field(typer, node, word, others[0])


def _check_instant(typer: ExpressionTyper, node: Node, operand: Expression) -> None:
    if not types.is_instant(operand.type) and operand.type not in (pa.string(), pa.null()):
        problem = f"{types.name(operand.type)} given to {node.value}:"
        raise typer.source.error_at(operand.node, problem, "CAST it to DATE or TIMESTAMP")


def _timestamp_added(
    typer: ExpressionTyper, node: Node, unit: str, count: Expression, instant: Expression
) -> Expression:
    _check_instant(typer, node, instant)
    if not types.may_be_number(count.type) or count.type is None:
        raise typer.source.error_at(count.node, f"{types.name(count.type)} as a count of {unit}:", "use an integer")
    result = TIMESTAMP_NTZ if instant.type == TIMESTAMP_NTZ else TIMESTAMP
    if not typer.catches:
        return Expression(f"timestampadd({unit}, {count.sql}, {instant.sql})", result, node)
    call = f"timestampadd({unit}, {count.sql}, {_as(instant, result)})"
    return Expression(caught_instant(call), result, node)


def _timestamp_difference(
    typer: ExpressionTyper, node: Node, unit: str, start: Expression, end: Expression
) -> Expression:
    """Return the typed expression of the difference of two dates or timestamps in a unit. Only a difference in
    microseconds can overflow.
    """
    for instant in (start, end):
        _check_instant(typer, node, instant)
    if not typer.catches:
        return Expression(f"timestampdiff({unit}, {start.sql}, {end.sql})", pa.int64(), node)
    call = f"timestampdiff({unit}, {_as(start, TIMESTAMP)}, {_as(end, TIMESTAMP)})"
    if unit == "MICROSECOND":
        call = f"CAST({caught_text(f'CAST({call} AS STRING)')} AS BIGINT)"
    return Expression(call, pa.int64(), node)


def _field(typer: ExpressionTyper, node: Node, word: str, operand: Expression) -> Expression:
    field = word.upper()
    kind = operand.type
    if types.is_interval(kind):
        name, result = _INTERVAL_FIELDS.get(field, ("", None))
        fields = kind.fields if isinstance(kind, IntervalType) else FIELDS
        if name not in fields:
            raise typer.source.error_at(node, f"field of {types.name(kind)}", f"it has {', '.join(fields)}")
        return Expression(f"extract({field} FROM {operand.sql})", result, node)
    _check_instant(typer, node, operand)
    if field in _SECOND_FIELDS:
        result = pa.decimal128(8, 6)
    elif field in _DATE_FIELDS or field in _CLOCK_FIELDS:
        result = pa.int32()
    else:
        raise typer.source.error_at(node, "field of an instant", "YEAR, MONTH, DAY, DOW, HOUR, MINUTE, SECOND, ...")
    text = operand.sql
    if kind == pa.date32() and field not in _DATE_FIELDS and types.needs_guard(operand, TIMESTAMP) and typer.catches:
        text = types.guarded(text, TIMESTAMP)
    return Expression(f"extract({field} FROM {text})", result, node)
