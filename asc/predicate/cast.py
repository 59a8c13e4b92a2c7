"""Casts as typed expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from asc.predicate import types
from asc.predicate.expression import Expression
from asc.predicate.interval import Interval
from asc.predicate.syntax import Node

if TYPE_CHECKING:
    from asc.predicate.typer import Typer


def cast(typer: Typer, node: Node) -> Expression:
    """A CAST or TRY_CAST; PredicateError for one that Spark has not."""
    operand = typer.of(node.args[0])
    target, spelling = node.value
    if not types.castable(operand.type, target, attempt=node.op == "try_cast"):
        raise typer.source.error_at(
            node, f"cast of {types.name(operand.type)} to {spelling}:", "Spark has no such cast"
        )
    if operand.node.op == "interval" and not _fits(operand.node.value, target):
        raise typer.source.error_at(node, f"cast to {spelling} of", "it does not fit")
    if pa.types.is_decimal(target) and operand.literal is None:
        if operand.type is None:
            raise typer.source.error_at(node, f"cast of {types.name(None)} to {spelling}:", "CAST it to STRING first")
        if operand.type == pa.string():
            return Expression(f"{node.op.upper()}(left({operand.sql}, {types.MAX_DIGITS}) AS {spelling})", target, node)
    if types.needs_guard(operand, target) or types.throws_beyond(operand.type, target):
        return Expression(f"TRY_CAST({operand.sql} AS {spelling})", target, node)
    return Expression(f"{node.op.upper()}({operand.sql} AS {spelling})", target, node)


def _fits(interval: Interval, target: pa.DataType) -> bool:
    """Whether a number type holds a constant interval; where it does not, Spark throws, or not if nobody looks."""
    count = abs(interval.in_last_field)
    if pa.types.is_decimal(target):
        return bool(count < 10 ** (target.precision - target.scale))
    return target not in types.INTEGERS or bool(count < 1 << (target.bit_width - 1))
