"""The expressions that Spark computes for a plan: those of its predicates, and those of its operators."""

from __future__ import annotations

import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.plan.plan import Plan
from broker.operators.fed_destination import FedDestination, destinations_in
from broker.operators.near.condition import carried_sql
from broker.operators.near.definition import NearOperator
from broker.operators.query_operator import QueryOperator


def expressions_of(plan: Plan) -> tuple[PAttribute, ...]:
    """Return the p-attributes of a plan, in the order of their slots, then the expressions of its operators, each once.

    Operators' expressions are not part of the plan's constructs, but a batch computes them as well.
    """
    own = (one for destination in destinations_in(plan) for one in expressions_of_destination(destination))
    return tuple(dict.fromkeys((*plan.p_attributes, *own)))


def expressions_of_destination(destination: FedDestination) -> tuple[PAttribute, ...]:
    """Return what the operator of one query reads of a record, as the batch computes it: key, time and position, and
    the values that a condition reads of both objects.
    """
    track = destination.track
    return (
        PAttribute(track.key, pa.string()),
        PAttribute(track.time_us, pa.int64()),
        *(PAttribute(part, pa.float64()) for part in track.position),
        *(PAttribute(carried_sql([column]), pa.string()) for column in track.carried or ()),
    )


def conditions_of(operator: QueryOperator) -> tuple[str, ...]:
    """Return the conditions over two objects that an operator has: the query that reads the feed judges them, not the
    batches of the job.
    """
    return (operator.on,) if isinstance(operator, NearOperator) and operator.on is not None else ()
