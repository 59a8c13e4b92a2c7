"""Definitions of standing DBSCAN queries: the checked parameters of the operator ``dbscan``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from asc.errors import DbscanError
from asc.operators.dbscan.dbscan_query import OP
from asc.operators.dbscan.definition import DbscanDefinition
from broker.errors import QueryError
from broker.operators.expression import Expression
from broker.operators.operator_fields import shown


@dataclass(frozen=True, slots=True)
class StandingDbscan:
    """The parameters of a standing DBSCAN query. Invariant: the query has a time expression."""

    name: ClassVar[str] = OP

    own: DbscanDefinition

    @classmethod
    def parse(cls, plain: Mapping[str, Any]) -> StandingDbscan:
        """Return the definition in a JSON object, which may omit defaults. Raise QueryError if the object is invalid.

        >>> plain = {"name": "dbscan", "attributes": ["x"], "eps": 0.5, "min_samples": 5, "window_s": 60, "slide_s": 10}
        >>> StandingDbscan.parse(plain).summary()
        'eps 0.5, min_samples 5 over x, 60 s every 10 s'
        """
        for name in ("eps", "min_samples"):
            if isinstance(plain.get(name), list):
                remedy = "is a list, which 'asc dbscan add' or a POST of one query divides: give one number here"
                raise QueryError(f"operator.{name}", shown(plain[name]), remedy)
        if "time" in plain and plain["time"] is None:
            raise QueryError("operator.time", None, "give an expression over the record, or leave it out")
        try:
            return cls(DbscanDefinition.parse(plain))
        except DbscanError as error:
            raise refusal_of(error) from None

    def plain(self) -> dict[str, Any]:
        """Return the definition as a JSON object with its name. If one field replaces another, the replaced one is
        null.
        """
        definition = self.own
        unit = "s" if definition.is_timed else "points"
        windows = dict.fromkeys(("window_s", "slide_s", "window_points", "slide_points"))
        return {
            "name": OP,
            "attributes": list(definition.attributes) if definition.position is None else None,
            "position": definition.position,
            "eps": definition.eps,
            "min_samples": definition.min_samples,
            "time": definition.time,
            **{**windows, f"window_{unit}": definition.window, f"slide_{unit}": definition.slide},
            "members": definition.members,
            "key": definition.key,
            "sample": definition.sample,
        }

    def expressions(self) -> tuple[Expression, ...]:
        """Return the expressions of the time, of the position or attributes, and of the key."""
        definition = self.own
        assert definition.time is not None
        values = [Expression("attributes", sql, "number") for sql in definition.attributes]
        if definition.position is not None:
            values = [Expression("position", definition.position, "position")]
        key = [] if definition.key is None else [Expression("key", definition.key, "key")]
        return (Expression("time", definition.time, "time"), *values, *key)

    def summary(self) -> str:
        """Return the definition in one line."""
        return self.own.summary()


def refusal_of(error: DbscanError) -> QueryError:
    """Return the error for a refused definition as a QueryError."""
    value = error.value
    return QueryError(error.subject, value if isinstance(value, (int, float)) else shown(value), error.remedy)
