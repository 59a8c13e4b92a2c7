"""The type checker as the forms see it that it hands nodes to, so that they need not import it."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from asc.predicate.expressions.expression import Expression
from asc.predicate.syntax.nodes import Node, Source
from asc.schema import Schema


class ExpressionTyper(Protocol):
    """The type checker of one predicate: ``source`` is its text, ``schema`` the columns that it may name.

    ``warnings``: of what looks like a mistake, in the order in which it was seen. ``catches``: expressions that Spark
    throws for are spelled so that they are NULL.
    """

    source: Source
    schema: Schema
    warnings: dict[str, None]
    catches: bool

    def of(self, node: Node) -> Expression:
        """Return the expression of a node of any kind."""

    def condition(self, node: Node) -> Expression:
        """Return the expression of a node that must be boolean."""

    def operator(
        self, node: Node, op: str, left: Expression, right: Expression, data_type: pa.DataType | None
    ) -> Expression:
        """Return the expression of an operator between two expressions."""

    def count_grown(self, node: Node, growth: float) -> float:
        """Return how many times longer than the record a value may be that is made longer; PredicateError for too
        much.
        """
