"""Arithmetic with dates, timestamps and intervals, where it cannot throw.

Spark's own throws beyond the range of timestamps, even with ANSI mode off. Its ``try_add`` and ``try_subtract`` do the
same and are NULL there. ``timestampadd`` and ``timestampdiff`` have no such form: their instants are columns or
constants, and NULL beyond the year 140,000.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import pyarrow as pa

from asc.predicate import types
from asc.predicate.expression import Expression
from asc.predicate.interval import DAY_TIME, YEAR_MONTH
from asc.predicate.literal import TIMESTAMP, TIMESTAMP_NTZ
from asc.predicate.syntax import Node

if TYPE_CHECKING:
    from asc.predicate.typer import Typer

TRIED: Mapping[str, str] = MappingProxyType({"try_add": "+", "try_subtract": "-"})
"""Functions that do what an operator does, and are NULL where it would throw."""

_TRIED = MappingProxyType({operator: name for name, operator in TRIED.items()})

INSTANT_FUNCTIONS = frozenset(("timestampadd", "timestampdiff", "extract", "date_part", "datepart"))
"""The functions of instants that this module types."""

_MAX_UNITS = 100_000
_MAX_YEARS = 140_000
_MAX_DEPTH = 2
_DAYS = (pa.int8(), pa.int16(), pa.int32(), pa.null())
_DATE_LIST = """
YEAR Y YEARS YR YRS YEAROFWEEK QUARTER QTR MONTH MON MONS MONTHS WEEK W WEEKS DAY D DAYS DAYOFWEEK DOW DAYOFWEEK_ISO
DOW_ISO DOY
"""
_CLOCK_LIST = "HOUR H HOURS HR HRS MINUTE M MIN MINS MINUTES"
_SECOND_LIST = "SECOND S SEC SECONDS SECS"
_INTERVAL_LIST = "YEAR YEARS MONTH MONTHS DAY DAYS HOUR HOURS MINUTE MINUTES SECOND SECONDS"
_DATE_FIELDS = frozenset(_DATE_LIST.split())
_CLOCK_FIELDS = frozenset(_CLOCK_LIST.split())
_SECOND_FIELDS = frozenset(_SECOND_LIST.split())
_INTERVAL_FIELDS = frozenset(_INTERVAL_LIST.split())


def instant_arithmetic(typer: Typer, node: Node, left: Expression, right: Expression) -> Expression | None:
    """``left + right`` or ``left - right`` where one is an instant or interval; None where none is. PredicateError for
    what is refused.
    """
    kinds = (left.type, right.type)
    if not any(types.is_instant(kind) or types.is_interval(kind) for kind in kinds):
        return None
    op = TRIED.get(node.value, "") if node.op == "call" else node.op
    if op in ("+", "-"):
        if types.is_instant(left.type) and types.is_interval(right.type):
            return _shifted(typer, node, op, left, right)
        if op == "+" and types.is_interval(left.type) and types.is_instant(right.type):
            return _shifted(typer, node, op, right, left)
        if op == "-" and types.is_instant(left.type) and types.is_instant(right.type):
            target = types.common_instant([left.type, right.type])
            return Expression(f"try_subtract({_as(left, target)}, {_as(right, target)})", DAY_TIME, node)
        if right.type == DAY_TIME and left.type == pa.string():
            # Spark reads the text as a timestamp, and gives a text.
            return Expression(f"{_TRIED[op]}({left.sql}, {right.sql})", pa.string(), node)
        if left.type == pa.date32() and right.type in _DAYS:
            return typer.operator(node, op, left, right, pa.date32())
        if op == "+" and left.type in _DAYS and right.type == pa.date32():
            return typer.operator(node, op, left, right, pa.date32())
    names = f"{types.name(left.type)} {op} {types.name(right.type)}:"
    raise typer.source.error_at(node, names, "a date takes whole days, an instant a constant INTERVAL")


def _shifted(typer: Typer, node: Node, op: str, instant: Expression, interval: Expression) -> Expression:
    """An instant plus or minus an interval."""
    constant = interval.node
    while constant.op == "neg":
        constant = constant.args[0]
    if constant.op != "interval" and instant.type == pa.date32():
        raise typer.source.error_at(interval.node, "interval", "add a constant one to a date: INTERVAL 1 DAY")
    of_days = constant.op == "interval" and constant.value.of_days
    result = TIMESTAMP if instant.type == pa.date32() and interval.type != YEAR_MONTH and not of_days else instant.type
    function = _TRIED[op]
    texts = [_as(instant, result), interval.sql]
    if node.args[0] is not instant.node:
        texts.reverse()
    return Expression(f"{function}({', '.join(texts)})", result, node)


def _as(instant: Expression, target: pa.DataType | None) -> str:
    """An instant cast to another type (None: to no other), where Spark would do it within try_add or try_subtract.

    Spark may compute a cast that several expressions share beside them, where what it throws is not caught.
    """
    if target in (None, instant.type) or not types.needs_guard(instant, target):
        return instant.sql
    return types.guarded(instant.sql, target)


def instant_call(typer: Typer, node: Node) -> Expression:
    """A call of one of INSTANT_FUNCTIONS; PredicateError for what is refused."""
    wanted = 3 if node.value in ("timestampadd", "timestampdiff") else 2
    if len(node.args) != wanted:
        raise typer.source.error_at(node, "call of a function", f"{node.value} takes {wanted} arguments")
    first, *others = [typer.of(arg) for arg in node.args]
    if first.literal is None or not isinstance(first.literal.value, str):
        raise typer.source.error_at(first.node, f"argument 1 of {node.value}", "name a field: 'YEAR', 'HOUR', ...")
    word = first.literal.value
    if node.value == "timestampadd":
        return _timestamp_added(typer, node, word, *others)
    if node.value == "timestampdiff":
        texts = ", ".join(_within_years(typer, node, other) for other in others)
        return Expression(f"timestampdiff({word}, {texts})", pa.int64(), node)
    return _field(typer, node, word, others[0])


def _check_instant(typer: Typer, node: Node, operand: Expression) -> None:
    if not types.is_instant(operand.type):
        problem = f"{types.name(operand.type)} given to {node.value}:"
        raise typer.source.error_at(operand.node, problem, "CAST it to DATE or TIMESTAMP")


def _within_years(typer: Typer, node: Node, instant: Expression) -> str:
    """An instant, NULL where Spark's function could throw."""
    _check_instant(typer, node, instant)
    if instant.literal is not None and instant.literal.known:
        return instant.sql
    if instant.node.depth > _MAX_DEPTH:
        problem = f"expression given to {node.value}:"
        raise typer.source.error_at(instant.node, problem, "give it columns, or write t + INTERVAL 1 DAY, a - b")
    return f"if(year({instant.sql}) BETWEEN -{_MAX_YEARS} AND {_MAX_YEARS}, {instant.sql}, NULL)"


def _timestamp_added(typer: Typer, node: Node, unit: str, count: Expression, instant: Expression) -> Expression:
    number = count.literal.value if count.literal is not None and count.type in types.INTEGERS else None
    if number is None or abs(number) > _MAX_UNITS:
        remedy = f"a constant integer up to {_MAX_UNITS:,}, or t + INTERVAL 1 DAY"
        raise typer.source.error_at(count.node, f"count of {node.value}:", remedy)
    result = TIMESTAMP_NTZ if instant.type == TIMESTAMP_NTZ else TIMESTAMP
    return Expression(f"timestampadd({unit}, {count.sql}, {_within_years(typer, node, instant)})", result, node)


def _field(typer: Typer, node: Node, word: str, operand: Expression) -> Expression:
    field = word.upper()
    kind = operand.type
    if types.is_interval(kind):
        if field not in _INTERVAL_FIELDS:
            raise typer.source.error_at(node, "field of an interval", "YEAR, MONTH; DAY, HOUR, MINUTE or SECOND")
        return Expression(f"extract({field} FROM {operand.sql})", None, node)
    if kind != pa.string():
        _check_instant(typer, node, operand)
    if field in _SECOND_FIELDS:
        result: pa.DataType = pa.decimal128(8, 6)
    elif field in _DATE_FIELDS or field in _CLOCK_FIELDS:
        result = pa.int32()
    else:
        raise typer.source.error_at(node, "field of an instant", "YEAR, MONTH, DAY, DOW, HOUR, MINUTE, SECOND, ...")
    text = operand.sql
    if kind == pa.date32() and field not in _DATE_FIELDS and types.needs_guard(operand, TIMESTAMP):
        text = types.guarded(text, TIMESTAMP)
    return Expression(f"extract({field} FROM {text})", result, node)
