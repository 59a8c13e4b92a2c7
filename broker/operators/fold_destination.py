"""Destinations of the handoff ``fold``: the expressions and the parameters of a query, as plans store them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from asc.errors import PlanError
from asc.keys.attribute import PAttribute
from asc.plan.destination import NO_TARGET, Destination
from asc.plan.plan import Plan
from asc.spark_types import ddl_of_type, type_of_ddl

FORM = 1
"""The form in which plans store destinations of the handoff ``fold``."""


@dataclass(frozen=True, slots=True)
class FoldColumn:
    """An expression that the states of a query read. ``name``: the name of the column in which states find
    its values.
    """

    name: str
    attribute: PAttribute


@dataclass(frozen=True, slots=True, eq=False)
class FoldDestination:
    """A query of a kind with the handoff ``fold``, in a plan.

    It contains all that tasks and the folder need to know about the query, so a replayed batch uses the definitions of
    its plan. ``op``: the name of the kind. ``time``: the SQL of its time, in microseconds. ``definition``: JSON.
    ``since``: the version of the registry that identifies the registration of the query's state; -1 if the query has
    none. A replacement with the same kind in the same stream keeps ``since``. If ``since`` differs from that of a
    stored state, the query was removed, or replaced otherwise, in between. Then it begins with an empty state.
    Invariant: within one kind, a column name has one expression.
    """

    op: str
    id: str
    topic: str
    time: str
    columns: tuple[FoldColumn, ...]
    definition: Mapping[str, Any]
    since: int = -1

    @property
    def attributes(self) -> tuple[PAttribute, ...]:
        """Return the expressions of a record that the query reads, the time first, without repetition."""
        time = PAttribute(self.time, pa.int64())
        return tuple(dict.fromkeys((time, *(column.attribute for column in self.columns))))

    def in_plan(self) -> Destination:
        """Return the destination in the form that plans store."""
        columns = [
            [column.name, own.sql, ddl_of_type(own.type), None if own.path is None else list(own.path)]
            for column in self.columns
            for own in (column.attribute,)
        ]
        plain: dict[str, Any] = {
            "topic": self.topic,
            "time": self.time,
            "columns": columns,
            "definition": dict(self.definition),
        }
        if self.since >= 0:
            plain["since"] = self.since
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
        return Destination(self.id, self.op, FORM, NO_TARGET, "", text)

    @staticmethod
    def of(destination: Destination) -> FoldDestination:
        """Return the query in a plan's destination. Raise PlanError if the destination has another form."""
        if destination.form != FORM:
            remedy = f"another version wrote it: {FORM} is known"
            raise PlanError(f"form of the destination of query '{destination.name}'", destination.form, remedy)
        plain = json.loads(destination.definition)
        columns = tuple(
            FoldColumn(name, PAttribute(sql, type_of_ddl(ddl), None if path is None else tuple(path)))
            for name, sql, ddl, path in plain["columns"]
        )
        own = plain["topic"], plain["time"], columns, plain["definition"], plain.get("since", -1)
        return FoldDestination(destination.op, destination.name, *own)


def folds_in(plan: Plan) -> list[FoldDestination]:
    """Return the queries of a plan whose records are folded."""
    return [FoldDestination.of(own) for own in plan.destinations.used() if own.target == NO_TARGET]
