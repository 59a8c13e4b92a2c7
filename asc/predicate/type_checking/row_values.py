"""Row values, ``(a, b)`` and ``struct(a, b AS x)``, as typed expressions."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression, column_sql
from asc.predicate.expressions.expression_typer import ExpressionTyper
from asc.predicate.syntax.nodes import Node


def row(typer: ExpressionTyper, node: Node) -> Expression:
    """Return the typed expression of a struct. Each field has the name that the user gave, else the name of its column,
    else col1, col2, ...
    """
    items = [typer.of(arg) for arg in node.args]
    names = [
        name or (arg.value[-1] if arg.op == "column" else f"col{place}")
        for place, (name, arg) in enumerate(zip(node.value, node.args, strict=True), 1)
    ]
    texts = [
        item.sql if name is None else f"{item.sql} AS {column_sql((name,))}"
        for item, name in zip(items, node.value, strict=True)
    ]
    kinds = [item.type for item in items]
    known = None not in kinds and not any(types.is_interval(kind) for kind in kinds)
    data_type = pa.struct(list(zip(names, kinds, strict=True))) if known else None
    return Expression(f"{'struct' * (node.op == 'struct')}({', '.join(texts)})", data_type, node)
