"""Where the evaluation of an expression fails: with ANSI mode off its value is NULL then, like that of a NULL operand.

An operation fails on a record where its value is NULL though none of its operands is: a division by zero, a cast that
the value does not fit, a decimal beyond its digits, a string that is no number beside one. What is NULL by its own
meaning (``nullif``, an entry that a map lacks, ``TRY_CAST``) does not fail.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from asc.predicate import types
from asc.predicate.expression import ARITHMETIC, COMPARISONS, Expression, Typer
from asc.predicate.functions import FUNCTIONS
from asc.predicate.syntax import Node

_DIVISIONS = frozenset(("/", "%", "div", "mod", "pmod"))
_CASTING_SORTS = frozenset("nithTD")
"""Arguments that Spark casts a string to (see Function)."""


def failure_of(typer: Typer, node: Node) -> str | None:
    """The condition, as Spark SQL, under which something in an expression fails; None where nothing can.

    What stands in a branch of CASE or ``if`` fails only where the branch is taken. The condition is never NULL.
    """
    return _either(_conditions(typer, node))


def _conditions(typer: Typer, node: Node) -> list[str]:
    if node.op == "case" or (node.op == "call" and node.value == "if"):
        return _of_branches(typer, None, node.args)
    if node.op == "case_of":
        return [*_conditions(typer, node.args[0]), *_of_branches(typer, node.args[0], node.args[1:])]
    found = [condition for arg in node.args for condition in _conditions(typer, arg)]
    if _can_fail(typer, node):
        found += _failed(typer, node)
    return found


def _of_branches(typer: Typer, subject: Node | None, args: Sequence[Node]) -> list[str]:
    """The conditions of ``WHEN args[0] THEN args[1] WHEN ... ELSE args[-1]``."""
    if len(args) < 2:
        return [condition for arg in args for condition in _conditions(typer, arg)]
    when, then = args[:2]
    found = _conditions(typer, when)
    taken, not_taken = _either(_conditions(typer, then)), _either(_of_branches(typer, subject, args[2:]))
    if taken or not_taken:
        compared = "" if subject is None else f"{typer.of(subject).argument} "
        branches = f"WHEN {typer.of(when).sql} THEN {taken or 'FALSE'} ELSE {not_taken or 'FALSE'}"
        found.append(f"CASE {compared}{branches} END")
    return found


def _either(conditions: Sequence[str]) -> str | None:
    return " OR ".join(f"({condition})" for condition in dict.fromkeys(conditions)) or None


def _failed(typer: Typer, node: Node) -> list[str]:
    """The condition under which the operation of a node itself fails."""
    operands = [typer.of(arg) for arg in node.args]
    if any(operand.type == pa.null() for operand in operands):
        return []
    known = [f"{operand.argument} IS NOT NULL" for operand in operands if operand.literal is None]
    return [" AND ".join([*known, f"({typer.of(node).sql}) IS NULL"])]


def _can_fail(typer: Typer, node: Node) -> bool:
    operands = [typer.of(arg) for arg in node.args]
    kinds = [operand.type for operand in operands]
    if node.op == "cast":
        return _cast_can_fail(operands[0], node.value[0])
    if node.op in ARITHMETIC or node.op == "neg":
        divides = node.op in _DIVISIONS and not _is_other_than_zero(operands[1])
        return divides or any(_may_be_text(kind) or pa.types.is_decimal(kind) for kind in kinds)
    if node.op in COMPARISONS or node.op == "between":
        # IN casts to strings instead
        others = {kind for kind in kinds if kind not in (pa.string(), pa.binary(), pa.null())}
        return node.op != "<=>" and bool(others) and any(_may_be_text(kind) for kind in kinds)
    if node.op == "call":
        sorts = FUNCTIONS[node.value].sorts
        cast = [sorts[min(i, len(sorts) - 1)] in _CASTING_SORTS for i in range(len(kinds))]
        divides = node.value in _DIVISIONS and not _is_other_than_zero(operands[1])
        return divides or any(is_cast and _may_be_text(kind) for is_cast, kind in zip(cast, kinds, strict=True))
    return False


def _is_other_than_zero(divisor: Expression) -> bool:
    literal = divisor.literal
    return literal is not None and literal.known and bool(literal.value)


def _may_be_text(kind: pa.DataType | None) -> bool:
    return kind is None or kind == pa.string()


def _cast_can_fail(operand: Expression, target: pa.DataType) -> bool:
    """With ANSI mode off a number that does not fit an integer or a float becomes another one, not NULL."""
    source = operand.type
    if source == target or target in (pa.string(), pa.binary()):
        return False
    if target == pa.date32():
        return _may_be_text(source)
    plain = types.INTEGERS | {pa.float32(), pa.float64(), pa.bool_()}
    return not (source in plain and target in plain)
