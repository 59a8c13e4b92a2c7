"""The conditions under which evaluating an expression is an error.

With ANSI mode off the value of a failed operation is NULL, like the value of an operation on a NULL operand. An
operation is an evaluation error on a record if its value is NULL although none of its operands is NULL. Examples are a
division by zero, a cast of a value that the type cannot hold, and a decimal overflow. Another example is the comparison
of a number with a string that is no number.

A value that is NULL by definition (``nullif``, a missing entry of a map, ``TRY_CAST``) is no error. An error in a part
that Spark does not evaluate does not count: in a CASE branch that is not taken, or in the right side of ``FALSE AND``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.constant_text import constant_text
from asc.predicate.expressions.expression import Expression
from asc.predicate.functions import CASTING_SORTS, FUNCTIONS, Call
from asc.predicate.syntax.nodes import Node
from asc.predicate.type_checking.instant_arithmetic import INSTANT_FUNCTIONS
from asc.predicate.type_checking.lambdas import LAMBDA_FUNCTIONS, THROWING_LAMBDA_FUNCTIONS
from asc.predicate.type_checking.typer import ARITHMETIC, COMPARISONS, DIVISIONS, Typer
from asc.spark_types import VARIANT

CONDITION_CHARS = 5_000
"""The maximum length of a condition, in characters. Errors of an expression with a longer condition are not counted."""


class _TooLongError(Exception):
    """An error: a condition, or a part of a condition, is longer than CONDITION_CHARS."""


_MEANT_LIST = "ln log log10 log1p log2 nullifzero try_add try_subtract try_multiply try_divide try_mod"
_MEANT_TO_BE_NULL = frozenset(_MEANT_LIST.split())
"""The functions that return NULL for some numbers by definition. For them, only a string that is no number is an error.
"""

_FIRST_KNOWN = frozenset(("coalesce", "nvl", "ifnull"))
_PLAIN = types.INTEGERS | {pa.float32(), pa.float64(), pa.bool_()}


def error_condition(typer: Typer, node: Node) -> str | None:
    """Return the condition under which evaluating an expression is an error, as Spark SQL that is never NULL.

    Return None if there can be no error, and if the condition is longer than CONDITION_CHARS.
    """
    try:
        return _condition(typer, node)
    except _TooLongError:
        return None


class _Step(NamedTuple):
    """One of several operands that Spark evaluates in order.

    ``decides`` is the condition under which Spark evaluates no later operand.
    """

    operand: Node
    decides: str
    result: Node | None = None
    """The operand that Spark evaluates last if ``decides`` holds; None if there is no such operand."""
    compared_with: Node | None = None
    """The operand with which Spark compares this operand; None if there is no such comparison.

    The comparison may be an evaluation error, too.
    """


def _condition(typer: Typer, node: Node) -> str | None:
    steps = list(_steps(typer, node))
    if steps:
        return _in_order(typer, steps)
    if node.op == "call" and (node.value in LAMBDA_FUNCTIONS or any(arg.op == "lambda" for arg in node.args)):
        return _of_lambda_call(typer, node)
    conditions = [_condition(typer, arg) for arg in node.args]
    if node.op == "call" and node.value == "nullif":
        conditions.append(_of_equality(typer, *node.args))
    elif node.op == "call" and node.value in _MEANT_TO_BE_NULL:
        conditions += [_of_cast(typer.of(arg)) for arg in node.args]
    elif _can_err(typer, node):
        conditions.append(_of_operation([typer.of(arg) for arg in node.args], typer.of(node).sql))
    return _either(conditions)


def _of_lambda_call(typer: Typer, node: Node) -> str | None:
    """Return the condition under which a call with a lambda is an error, apart from errors within the lambda.

    The body of the lambda, or an expression in place of a lambda, is evaluated for each element. It has no meaning
    outside the call.
    """
    containers = [arg for arg in node.args[:-1] if arg.op != "lambda"]
    conditions = [_condition(typer, arg) for arg in containers]
    if node.value in THROWING_LAMBDA_FUNCTIONS:
        conditions.append(_of_operation([typer.of(arg) for arg in containers], typer.of(node).sql))
    return _either(conditions)


def _either(conditions: Iterable[str | None]) -> str | None:
    found = dict.fromkeys(condition for condition in conditions if condition is not None)
    return _bounded(" OR ".join(f"({condition})" for condition in found)) or None


def _bounded(condition: str) -> str:
    # The whole condition contains every part, so it would be too long as well.
    if len(condition) > CONDITION_CHARS:
        raise _TooLongError
    return condition


def _steps(typer: Typer, node: Node) -> Iterator[_Step]:
    """Yield the operands in the order in which Spark evaluates them.

    Yield none if an operation always evaluates all operands.
    """
    op, args = node.op, node.args
    name = node.value if op == "call" else ""
    if op in ("and", "or"):
        for arg in args:
            condition = typer.condition(arg)
            yield _Step(arg, f"NOT {condition.argument}" if op == "and" else condition.argument)
    elif name in _FIRST_KNOWN:
        for arg in args:
            yield _Step(arg, f"{typer.of(arg).argument} IS NOT NULL")
    elif name == "nvl2":
        yield _Step(args[0], f"{typer.of(args[0]).argument} IS NOT NULL", args[1])
        yield _Step(args[2], "TRUE")
    elif op in ("case", "case_of") or name == "if":
        subject = f"{typer.of(args[0]).argument} = " if op == "case_of" else ""
        if subject:
            yield _Step(args[0], "FALSE")
            args = args[1:]
        for place in range(0, len(args) - 1, 2):
            compared_with = node.args[0] if subject else None
            yield _Step(args[place], f"{subject}{typer.of(args[place]).argument}", args[place + 1], compared_with)
        if len(args) % 2:
            yield _Step(args[-1], "TRUE")


def _in_order(typer: Typer, steps: Sequence[_Step]) -> str | None:
    """Return the condition under which evaluating one of the steps is an error, as SQL with a single CASE. Return None
    if there can be no error.

    Spark's parser limits the nesting depth. The CASE is nested no deeper than the expression itself.
    """
    branches, can_err = [], False
    for step in steps:
        own = _either([_condition(typer, step.operand), _of_equality(typer, step.compared_with, step.operand)])
        after = None if step.result is None else _condition(typer, step.result)
        if own is not None:
            branches.append(f"WHEN {own} THEN TRUE")
        branches.append(f"WHEN {step.decides} THEN {after or 'FALSE'}")
        can_err |= own is not None or after is not None
    return _bounded(f"CASE {' '.join(branches)} ELSE FALSE END") if can_err else None


def _of_operation(operands: Sequence[Expression], result: str) -> str | None:
    """Return the condition under which an operation itself is an error: its result is NULL, and no operand is NULL.
    Return None if an operand is the constant NULL.
    """
    if any(operand.type == pa.null() for operand in operands):
        return None
    known = [f"{operand.argument} IS NOT NULL" for operand in operands if operand.literal is None]
    return _bounded(" AND ".join([*known, f"({result}) IS NULL"]))


def _of_equality(typer: Typer, left: Node | None, right: Node) -> str | None:
    """Return the condition under which the comparison ``left = right`` within another operation is an error.

    Return None if there is no left side, or if the comparison cannot be an error.
    """
    if left is None:
        return None
    sides = [typer.of(left), typer.of(right)]
    if not _comparison_can_err([side.type for side in sides]):
        return None
    return _of_operation(sides, f"{sides[0].argument} = {sides[1].argument}")


def _of_cast(operand: Expression) -> str | None:
    """Return the condition under which an operand is a string that is no number, for a function that returns NULL for
    some numbers. Return None if the operand cannot be a string.
    """
    if not _may_be_text(operand.type):
        return None
    return _of_operation([operand], f"CAST({operand.sql} AS DOUBLE)")


def _can_err(typer: Typer, node: Node) -> bool:
    operands = [typer.of(arg) for arg in node.args]
    kinds = [operand.type for operand in operands]
    if node.op == "cast":
        return _cast_can_err(operands[0], node.value[0])
    if node.op in ARITHMETIC or node.op == "neg":
        divides = node.op in DIVISIONS and not _is_other_than_zero(operands[1])
        spans = any(map(types.is_interval, kinds)) or all(map(types.is_instant, kinds))
        return divides or spans or any(_may_be_text(kind) or pa.types.is_decimal(kind) for kind in kinds)
    if node.op in COMPARISONS or node.op == "between":
        return node.op != "<=>" and _comparison_can_err(kinds)
    if node.op == "like":
        return kinds[1] != pa.null() and constant_text(node.args[1]) is None
    if node.op == "call" and node.value in INSTANT_FUNCTIONS:
        return node.value == "timestampadd" or any(map(_may_be_text, kinds[1:]))
    if node.op == "call" and node.value in ("abs", "negative") and types.is_interval(kinds[0]):
        return True
    if node.op == "call" and node.value in FUNCTIONS:
        function = FUNCTIONS[node.value]
        cast = [function.sort(i) in CASTING_SORTS for i in range(len(kinds))]
        divides = node.value in DIVISIONS and not _is_other_than_zero(operands[1])
        return (
            divides
            or function.can_fail(Call(node.value, operands))
            or any(is_cast and _may_be_text(kind) for is_cast, kind in zip(cast, kinds, strict=True))
        )
    return False


def _comparison_can_err(kinds: Sequence[pa.DataType | None]) -> bool:
    """Return whether a comparison of values of these types can be an evaluation error.

    Spark casts both sides to one type. For IN with a string that type is string, and a cast to string is never an
    error.
    """
    others = {kind for kind in kinds if kind not in (pa.string(), pa.binary(), pa.null())}
    widened = len(others) > 1 and any(kind is not None and pa.types.is_decimal(kind) for kind in others)
    return widened or (bool(others) and any(_may_be_text(kind) for kind in kinds))


def _is_other_than_zero(divisor: Expression) -> bool:
    literal = divisor.literal
    return literal is not None and literal.known and bool(literal.value)


def _may_be_text(kind: pa.DataType | None) -> bool:
    return kind is None or kind == pa.string()


def _cast_can_err(operand: Expression, target: pa.DataType) -> bool:
    """Return whether a cast can be an evaluation error.

    With ANSI mode off, a number that an integer or float type cannot hold becomes another number, not NULL. A variant
    may contain NULL, which is NULL after any cast.
    """
    source = operand.type
    if source in (target, VARIANT) or target in (pa.string(), pa.binary()):
        return False
    if target == pa.date32():
        return _may_be_text(source)
    return not (source in _PLAIN and target in _PLAIN)
