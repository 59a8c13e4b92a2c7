"""The type checker as lambdas, columns and patterns see it: with the state of the predicate so far."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from asc.predicate.expressions.expression_typer import ExpressionTyper
from asc.predicate.type_checking.pattern_work import PatternWork


class ScopedTyper(ExpressionTyper, Protocol):
    """A type checker with the names that a node may use.

    ``columns``: the paths of the columns that were named so far. ``scopes``: the variables of the lambdas around the
    node, by folded name. ``lambda_nodes``: the nodes of lambdas so far. ``pattern_work``: of the patterns so far.
    """

    columns: set[tuple[str, ...]]
    scopes: list[dict[str, pa.DataType | None]]
    lambda_nodes: int
    pattern_work: PatternWork
