"""The protocol of the type checker.

The modules that check one kind of expression, such as casts, use the protocol. So they need not import the type
checker, which imports them.
"""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from asc.predicate.expressions.expression import Expression
from asc.predicate.syntax.nodes import Node, Source
from asc.schema import Schema


class ExpressionTyper(Protocol):
    """The type checker of one predicate.

    ``source``: the text of the predicate. ``schema``: the columns that the predicate may name. ``warnings``: the
    warnings about likely mistakes, in the order in which they were found. ``catches``: whether an expression for which
    Spark could throw is rewritten so that its value is NULL instead.
    """

    source: Source
    schema: Schema
    warnings: dict[str, None]
    catches: bool

    def of(self, node: Node) -> Expression:
        """Return the typed expression of a node of the syntax tree."""

    def condition(self, node: Node) -> Expression:
        """Return the typed expression of a node. Raise PredicateError if its type is known and is neither boolean nor
        NULL.
        """

    def operator(
        self, node: Node, op: str, left: Expression, right: Expression, data_type: pa.DataType | None
    ) -> Expression:
        """Return the expression ``left op right`` with the type ``data_type`` (None if unknown)."""

    def count_grown(self, node: Node, growth: float) -> float:
        """Return the factor by which the value of ``node`` may be longer than the record: ``growth``, but at least 1.

        Raise PredicateError if the sum of the factors of the predicate so far exceeds the limit.
        """
