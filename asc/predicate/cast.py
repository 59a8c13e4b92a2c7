"""Casts as typed expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asc.predicate import types
from asc.predicate.expression import Expression
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
    if types.needs_guard(operand, target):
        return Expression(types.guarded(operand.sql, target), target, node)
    return Expression(f"{node.op.upper()}({operand.sql} AS {spelling})", target, node)
