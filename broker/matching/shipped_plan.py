"""A plan shipped to the workers. Its parts depend only on the plan, and are created once for all batches that run with
it.
"""

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
    """A plan, the broadcasts of its parts, and the transport of its p-attributes and folded columns into Python.

    It can be used with every DataFrame that has the columns of the DataFrame for which it was made. Cost: a copy of the
    parts on the disks of the driver and of each host, until :meth:`release`. If the plan was derived from another
    shipped plan, only new parts are copied.
    """

    plan: Plan
    broadcasts: Mapping[Part, Broadcast[bytes]]
    transport: Transport
    folding: Folding | None = None

    @property
    def carried(self) -> tuple[PAttribute, ...]:
        """Return the p-attributes that cross into Python after the plan's p-attributes, because queries fold them.
        Return an empty tuple if no query is folded.
        """
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
        """Analyse the plan's expressions over a frame with Spark, and ship the parts that ``before`` has not shipped.

        ``counts_errors``: whether the conditions of evaluation errors cross into Python as well. ``folding``: the data
        to fold the records of the plan, or None. Raise MatchError if Spark refuses an expression, or derives another
        type than the plan has; the error names the ``queries`` that use it.
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
        """Return whether another plan sends the same values to Python as this plan: the same p-attributes and the same
        carried attributes, each in the same order.
        """
        carried = () if folding is None else folding.carried
        return (self.plan.p_attributes, self.carried) == (plan.p_attributes, carried)

    def with_plan(self, spark: SparkSession, plan: Plan, folding: Folding | None = None) -> ShippedPlan:
        """Send the parts of another plan that this plan has not shipped. Return the other plan with the transport of
        this plan.
        """
        return replace(_shipped(spark, plan, self.broadcasts, self.transport), folding=folding)

    @property
    def parts(self) -> PlanParts:
        """Return the parts in the form that travels to the workers."""
        return PlanParts.of(self.broadcasts.values())

    def release(self, after: ShippedPlan | None = None) -> None:
        """Release the broadcasts of the parts, except for parts of the next plan, ``after``.

        Call it only when no batch runs, or will run, with this plan.
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
    """Enter a context in which Spark analyses with ANSI mode off, so that an evaluation error is NULL.

    Spark stores the mode in analysed expressions, so the session's own mode is restored when the context ends.
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
