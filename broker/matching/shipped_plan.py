"""A plan on its way to the workers: what hangs on the plan alone, made once for all batches that run with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pyspark import Broadcast
from pyspark.sql import DataFrame, SparkSession

from asc.keys.attribute import PAttribute
from asc.plan.parts import Part, parts_of
from asc.plan.plan import Plan, Query
from broker.errors import MatchError
from broker.matching.expressions import analyse, countable_errors
from broker.matching.fold_task import Folding
from broker.matching.plan_parts import PlanParts, broadcasts_of, forget
from broker.matching.transport import Transport


@dataclass(frozen=True, slots=True, eq=False)
class ShippedPlan:
    """A plan, its parts as the workers read them, and how its p-attributes and what is folded cross into Python.

    Holds for every DataFrame with the columns of the one it was made for. Cost: the parts once more, on the driver's
    disk and on that of each host, until :meth:`release`. Of a plan that was changed from another shipped one, only the
    new parts.
    """

    plan: Plan
    broadcasts: Mapping[Part, Broadcast[bytes]]
    transport: Transport
    folding: Folding | None = None

    @property
    def carried(self) -> tuple[PAttribute, ...]:
        """Return the attributes that cross after the plan's p-attributes."""
        return () if self.folding is None else self.folding.carried

    @staticmethod
    def of(
        frame: DataFrame,
        plan: Plan,
        queries: Iterable[Query] = (),
        *,
        counts_errors: bool = False,
        before: ShippedPlan | None = None,
        folding: Folding | None = None,
    ) -> ShippedPlan:
        """Have Spark analyse the plan's expressions over a frame, and ship the plan, or what one shipped ``before`` has
        not of it.

        ``counts_errors``: the conditions of their evaluation errors travel as well. ``folding``: of the plan's queries
        whose records are folded. Raises MatchError where Spark
        refuses an expression or finds it of another type, naming those of the ``queries`` that use it.
        """
        crossing = plan.p_attributes if folding is None else (*plan.p_attributes, *folding.carried)
        with ansi_off(frame.sparkSession):
            found = analyse(frame, crossing)
            for attribute, remedy in found.refusals.items():
                raise MatchError(_subject(attribute, queries), attribute.as_written, remedy)
            conditions: Mapping[int, str] = countable_errors(frame, plan.p_attributes) if counts_errors else {}
        nullable = [found.nullable[attribute] for attribute in crossing]
        transport = Transport.of(crossing, nullable, conditions)
        known = {} if before is None else before.broadcasts
        return replace(_shipped(frame.sparkSession, plan, known, transport), folding=folding)

    def crosses(self, plan: Plan, folding: Folding | None) -> bool:
        """Return whether another plan has the same p-attributes, in the same order, and folds the same ones."""
        carried = () if folding is None else folding.carried
        return (self.plan.p_attributes, self.carried) == (plan.p_attributes, carried)

    def with_plan(self, spark: SparkSession, plan: Plan, folding: Folding | None = None) -> ShippedPlan:
        """Return another plan that crosses as this one does."""
        return replace(_shipped(spark, plan, self.broadcasts, self.transport), folding=folding)

    @property
    def parts(self) -> PlanParts:
        """The parts as they travel to the workers."""
        return PlanParts.of(self.broadcasts.values())

    def release(self, after: ShippedPlan | None = None) -> None:
        """Let the driver, its disk and the workers forget the parts, but those of the plan that comes ``after``; only
        when no batch runs with them, or will.
        """
        kept = set() if after is None else set(after.broadcasts)
        forget(broadcast for part, broadcast in self.broadcasts.items() if part not in kept)


def _shipped(
    spark: SparkSession, plan: Plan, known: Mapping[Part, Broadcast[bytes]], transport: Transport
) -> ShippedPlan:
    parts = parts_of(plan, tuple(known))
    return ShippedPlan(plan, broadcasts_of(spark.sparkContext, parts, known), transport)


@contextmanager
def ansi_off(spark: SparkSession) -> Iterator[None]:
    """Analyse with ANSI mode off, whatever the session's: an evaluation error is NULL.

    Spark keeps the mode in the expressions it has analysed, so the session has its own again at once.
    """
    name = "spark.sql.ansi.enabled"
    before = spark.conf.get(name)
    if before is None or before == "false":
        yield
        return
    spark.conf.set(name, "false")
    try:
        yield
    finally:
        spark.conf.set(name, before)


def _subject(attribute: PAttribute, queries: Iterable[Query]) -> str:
    users = sorted(query.id for query in queries if attribute in query.predicate.read)
    named = ", ".join(map(repr, users[:3])) + (", ..." if len(users) > 3 else "")
    return f"expression of {named}" if users else "expression"
