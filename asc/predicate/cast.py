"""Casts as typed expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from asc.predicate import types
from asc.predicate.expression import Expression
from asc.predicate.syntax import Node
from asc.spark_types import VARIANT

_MAX_DIGITS = 20_000
"""Characters of a text that are read as a decimal; there are no more but in a record made to stall a stream."""

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
    if pa.types.is_decimal(target) and operand.literal is None:
        # Java takes the square of a text's digits to read them as one number.
        if operand.type is None:
            raise typer.source.error_at(node, f"cast of {types.name(None)} to {spelling}:", "CAST it to STRING first")
        if operand.type == pa.string():
            return Expression(f"{node.op.upper()}(left({operand.sql}, {_MAX_DIGITS}) AS {spelling})", target, node)
    if types.needs_guard(operand, target) or operand.type == VARIANT:
        return Expression(types.guarded(operand.sql, target), target, node)
    return Expression(f"{node.op.upper()}({operand.sql} AS {spelling})", target, node)
