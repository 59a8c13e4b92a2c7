"""Analysis of predicates by a schema alone, for checks without a daemon."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.schema import Schema

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True)
class SchemaAnalyser:
    """The analyser of predicates by a schema alone, without Spark. Whether Spark accepts the expressions that it would
    compute is not checked.

    ``time_zone``: the time zone of TIMESTAMP literals.
    """

    attributes: Schema
    time_zone: str = "UTC"

    def normalise(self, where: str) -> Predicate:
        """Return the normal form of a predicate. Raise PredicateError if the text is not a valid predicate."""
        from asc.predicate import normalise

        return normalise(where, self.attributes, time_zone=self.time_zone)

    def over(self, schema: Schema) -> Self:
        """Return the analyser of predicates over another schema."""
        return replace(self, attributes=schema)

    def check(self, predicate: Predicate, *, patiently: bool = False) -> None:
        """Accept the predicate, because the daemon has Spark check it at registration."""
