"""Expansion of ``place.*`` in argument lists to the columns of the struct's fields."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.expression_typer import ExpressionTyper
from asc.predicate.syntax.nodes import Node, nodes_of

_HOLDING = ("call", "struct", "row", "in")


def with_columns(tree: Node, typer: ExpressionTyper) -> Node:
    """Return the tree in which each ``place.*`` is replaced by the columns of the struct ``place``.

    Raise PredicateError for a ``place.*`` at a position where Spark refuses it.
    """
    return _replaced(tree, typer) if _has_star(tree) else tree


def _has_star(node: Node) -> bool:
    return any(own.op == "star" and bool(own.value) for own in nodes_of(node))


def _replaced(node: Node, typer: ExpressionTyper) -> Node:
    if node.op == "star" and node.value:
        raise _misplaced(node, typer)
    args: list[Node] = []
    names: list[str | None] = []
    for place, arg in enumerate(node.args):
        named = node.value[place] if node.op in ("struct", "row") else None
        if arg.op != "star" or not arg.value:
            args.append(_replaced(arg, typer))
            names.append(named)
            continue
        if node.op not in _HOLDING or named is not None or (node.op == "in" and place == 0):
            raise _misplaced(arg, typer)
        columns = _fields(arg, typer)
        args += columns
        names += [None] * len(columns)
    value = tuple(names) if node.op in ("struct", "row") else node.value
    return Node(node.op, tuple(args), node.start, node.end, value, written=node.written)


def _fields(star: Node, typer: ExpressionTyper) -> list[Node]:
    kind = typer.of(Node("column", (), star.start, star.end, star.value)).type
    if kind is None or not pa.types.is_struct(kind):
        raise typer.source.error_at(star, f"fields of {types.name(kind)}:", "only a struct has fields")
    return [Node("column", (), star.start, star.end, (*star.value, field.name)) for field in kind]


def _misplaced(star: Node, typer: ExpressionTyper) -> Exception:
    return typer.source.error_at(star, "not allowed here:", "name the fields; struct(place.*) takes all of them")
