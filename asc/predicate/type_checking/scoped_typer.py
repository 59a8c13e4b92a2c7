"""The protocol of the type checker for the modules that type lambdas, columns and patterns.

These modules need to know the columns, lambdas and patterns of the predicate that have been typed so far.
"""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from asc.predicate.expressions.expression_typer import ExpressionTyper
from asc.predicate.type_checking.pattern_work import PatternWork


class ScopedTyper(ExpressionTyper, Protocol):
    """A type checker that also knows the names in scope at a node, and the work of the predicate so far.

    ``columns``: the paths of the columns that the predicate has named so far. ``scopes``: for each enclosing lambda,
    the types of its variables by name in lower case. ``lambda_nodes``: the number of nodes in lambdas so far.
    ``pattern_work``: the work of the patterns so far.
    """

    columns: set[tuple[str, ...]]
    scopes: list[dict[str, pa.DataType | None]]
    lambda_nodes: int
    pattern_work: PatternWork
