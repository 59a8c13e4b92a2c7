"""Warnings about predicates that Spark probably reads differently than their authors intended."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expressions.expression import Expression
from asc.predicate.syntax.nodes import Node, Source

WRITE_OR = "|| joins texts: between conditions write OR"


def compared_with_null(source: Source, node: Node, left: Expression, right: Expression) -> str | None:
    """Return the warning that a comparison with NULL should be IS NULL; None for any other comparison."""
    if node.op == "<=>" or left.type == right.type or pa.null() not in (left.type, right.type):
        return None
    value, null = (right, left) if left.type == pa.null() else (left, right)
    if not source.has_null(null.node):
        return None
    between = source.text[left.node.end : right.node.start]
    test = "IS NOT NULL" if "!" in between or "<>" in between else "IS NULL"
    return f"{source.written(node)} is NULL for every record: write {source.written(value.node)} {test}"


def joined_conditions(left: Expression, right: Expression) -> str | None:
    """Return the remedy for the error of a comparison if the user probably wrote ``||`` for OR; otherwise None."""
    sides = [left.node, *left.node.args[-1:], right.node, *right.node.args[:1]]
    joins = any(side.op == "||" for side in sides)
    return WRITE_OR if joins and pa.bool_() in (left.type, right.type) else None
