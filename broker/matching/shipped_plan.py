"""A plan on its way to the workers: what hangs on the plan alone, made once for all batches that run with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from pyspark import Broadcast
from pyspark.sql import DataFrame, SparkSession

from asc.keys.attribute import PAttribute
from asc.plan.format import to_bytes
from asc.plan.plan import Plan, Query
from broker.errors import MatchError
from broker.matching.expressions import analyse, countable_errors
from broker.matching.plan_bytes import PlanBytes
from broker.matching.transport import Transport


@dataclass(frozen=True, slots=True, eq=False)
class ShippedPlan:
    """A plan, its bytes as the workers read them, and how its p-attributes cross into Python.

    Holds for every DataFrame with the columns of the one it was made for. Cost: the plan's bytes once more, on the
    driver, on its disk and in each worker process, until :meth:`destroy`.
    """

    plan: Plan
    broadcast: Broadcast[PlanBytes]
    transport: Transport

    @staticmethod
    def of(frame: DataFrame, plan: Plan, queries: Iterable[Query] = (), *, counts_errors: bool = False) -> ShippedPlan:
        """Have Spark analyse the plan's expressions over a frame, and ship the plan.

        ``counts_errors``: the conditions of their evaluation errors travel as well. Raises MatchError where Spark
        refuses an expression or finds it of another type, naming those of the ``queries`` that use it.
        """
        with ansi_off(frame.sparkSession):
            found = analyse(frame, plan.p_attributes)
            for attribute, remedy in found.refusals.items():
                raise MatchError(_subject(attribute, queries), attribute.sql, remedy)
            conditions: Mapping[int, str] = countable_errors(frame, plan.p_attributes) if counts_errors else {}
        nullable = [found.nullable[attribute] for attribute in plan.p_attributes]
        transport = Transport.of(plan.p_attributes, nullable, conditions)
        return ShippedPlan(plan, frame.sparkSession.sparkContext.broadcast(PlanBytes(to_bytes(plan))), transport)

    def with_plan(self, spark: SparkSession, plan: Plan) -> ShippedPlan:
        """Another plan of the same p-attributes, in the same order: it crosses as this one does."""
        return ShippedPlan(plan, spark.sparkContext.broadcast(PlanBytes(to_bytes(plan))), self.transport)

    def destroy(self) -> None:
        """Let the driver, its disk and the workers forget the bytes; only when no batch runs with them, or will."""
        with suppress(FileNotFoundError):
            self.broadcast.destroy()


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
    users = sorted(query.id for query in queries if attribute in query.predicate.p_attributes)
    named = ", ".join(map(repr, users[:3])) + (", ..." if len(users) > 3 else "")
    return f"expression of {named}" if users else "expression"
