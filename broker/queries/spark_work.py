"""The work of Spark for the expressions of a stream, and the limits on it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from asc.keys.attribute import PAttribute
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.queries.query import RegisteredQuery


class TooMuchWorkError(QueryError):
    """The refusal of a query with which Spark would compute too much for its stream."""


@dataclass(frozen=True, slots=True)
class SparkWork:
    """The work of expressions for Spark: the numbers of expressions, of operators and operands, and of steps."""

    expressions: int
    nodes: int
    steps: int

    @classmethod
    def of(cls, attributes: Collection[PAttribute]) -> SparkWork:
        """Return the work of different expressions."""
        nodes = sum(attribute.weight for attribute in attributes)
        return cls(len(attributes), nodes, sum(attribute.steps for attribute in attributes))

    def __add__(self, other: SparkWork) -> SparkWork:
        return SparkWork(self.expressions + other.expressions, self.nodes + other.nodes, self.steps + other.steps)

    def excess(self, query: RegisteredQuery, limits: LimitsConfig) -> TooMuchWorkError | None:
        """Return the refusal of a query whose stream would have this work with the query. Return None if the work is
        within the limits.
        """
        if self.expressions > limits.spark_attributes:
            what, limit = f"{limits.spark_attributes} expressions: reuse one that stands", "spark_attributes"
        elif self.nodes > limits.stream_spark_nodes:
            what = f"{limits.stream_spark_nodes} operators and operands: reuse an expression that stands"
            limit = "stream_spark_nodes"
        elif self.steps > limits.stream_pattern_steps:
            what = f"{limits.stream_pattern_steps} steps of patterns for each character of a string: reuse a pattern"
            what, limit = f"{what} that stands, begin it with ^", "stream_pattern_steps"
        else:
            return None
        remedy = f"stream '{query.stream}' would have Spark compute more than {what}, or raise limits.{limit}"
        return TooMuchWorkError("predicate", query.where[:200], remedy)
