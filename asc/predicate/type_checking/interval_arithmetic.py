"""Arithmetic of intervals with intervals and with numbers, spelled so that it cannot throw.

Spark's operators throw if an interval overflows, even with ANSI mode off. Spark's ``try_`` functions compute the same
and return NULL on overflow. Operators on calendar intervals do not throw.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression
from asc.predicate.expressions.expression_typer import ExpressionTyper
from asc.predicate.syntax.interval_type import CALENDAR, DAY_TIME, YEAR_MONTH, IntervalType, spanned
from asc.predicate.syntax.nodes import Node

TRIED: Mapping[str, str] = MappingProxyType(
    {"try_add": "+", "try_subtract": "-", "try_multiply": "*", "try_divide": "/"}
)
"""The functions that compute the same as an operator but return NULL if the operator would throw."""

TRIED_AS: Mapping[str, str] = MappingProxyType({operator: name for name, operator in TRIED.items()})

INTERVAL_FUNCTIONS = frozenset(("abs", "negative", "positive", "sign", "signum", "width_bucket"))
"""The functions of numbers that also accept intervals."""


def interval_arithmetic(
    typer: ExpressionTyper, node: Node, op: str, left: Expression, right: Expression
) -> Expression | None:
    """Return the typed expression of ``left op right`` if one operand is an interval and none is a date or timestamp.

    Return None for other operands, or if Spark has no such operator.
    """
    kinds = (left.type, right.type)
    if op in ("+", "-"):
        result = _sum(*kinds)
    elif op == "*":
        interval, factor = (left, right) if types.is_interval(left.type) else (right, left)
        result = _scaled(interval.type) if types.may_be_number(factor.type) else None
    elif op == "/":
        result = _scaled(left.type) if types.may_be_number(right.type) else None
    elif op == "div":
        result = pa.int64() if isinstance(_sum(*kinds), IntervalType) else None
    else:
        result = None
    if result is None:
        return None
    if op == "div" or (CALENDAR in kinds and node.op != "call"):
        return typer.operator(node, op.upper(), left, right, result)
    return Expression(f"{TRIED_AS[op]}({left.sql}, {right.sql})", result, node)


def _sum(left: pa.DataType | None, right: pa.DataType | None) -> pa.DataType | None:
    """Return the type of the sum of two intervals, or of NULL and an interval that is no calendar interval.

    Return None if the types cannot be added.
    """
    if pa.null() in (left, right):
        other = left if right == pa.null() else right
        return other if isinstance(other, IntervalType) else None
    if left == right:
        return left
    if isinstance(left, IntervalType) and isinstance(right, IntervalType):
        return spanned((left, right))
    return None


def _scaled(interval: pa.DataType | None) -> pa.DataType | None:
    """Return the type of an interval times a number; None if the type is no interval type."""
    if isinstance(interval, IntervalType):
        return YEAR_MONTH if interval.of_months else DAY_TIME
    return CALENDAR if interval == CALENDAR else None


def negative(typer: ExpressionTyper, node: Node, operand: Expression) -> Expression:
    """Return the typed expression of the negation of an interval, ``- operand``."""
    if isinstance(operand.type, IntervalType) and operand.node.op != "interval" and typer.catches:
        return Expression(f"try_subtract({operand.type.zero}, {operand.sql})", operand.type, node)
    return Expression(f"- {operand.argument}", operand.type, node, atomic=False)


def interval_call(typer: ExpressionTyper, node: Node) -> Expression | None:
    """Return the typed expression of a call of one of INTERVAL_FUNCTIONS.

    Return None if the first argument is no interval. Raise PredicateError for a call that is refused.
    """
    name = node.value
    args = [typer.of(arg) for arg in node.args]
    first = args[0] if args else None
    if first is None or not types.is_interval(first.type):
        return None
    if len(args) != (4 if name == "width_bucket" else 1):
        raise typer.source.error_at(node, "call of a function", f"{name} takes another number of arguments")
    if name in ("negative", "positive"):
        return negative(typer, node, first) if name == "negative" else Expression(first.sql, first.type, node)
    if not isinstance(first.type, IntervalType):
        raise typer.source.error_at(node, f"{types.name(first.type)} given to {name}:", "extract a field of it")
    if name == "abs" and typer.catches:
        return Expression(f"try_add(abs({first.sql}), {first.type.zero})", first.type, node)
    if name == "width_bucket":
        _check_bucket(typer, node, args)
        return Expression(f"width_bucket({', '.join(arg.sql for arg in args)})", pa.int64(), node)
    return Expression(f"{name}({first.sql})", first.type if name == "abs" else pa.float64(), node)


def _check_bucket(typer: ExpressionTyper, node: Node, args: list[Expression]) -> None:
    ends, count = args[:3], args[3]
    kinds = [end.type for end in ends if isinstance(end.type, IntervalType)]
    if len(kinds) < len(ends) or spanned(kinds) is None:
        names = ", ".join(types.name(end.type) for end in ends)
        raise typer.source.error_at(node, "call of a function", f"width_bucket of {names}: give it intervals alike")
    if not types.may_be_number(count.type):
        raise typer.source.error_at(count.node, f"{types.name(count.type)} as a number of buckets:", "use an integer")
