"""The expressions that Spark computes for a plan: the expressions of its predicates and of its operators."""

from __future__ import annotations

import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.plan.plan import Plan
from broker.operators.feed_destination import NO_KEY, FeedDestination, destinations_in
from broker.operators.feed_projection import carried_sql
from broker.operators.fold_destination import FoldDestination, folds_in


def expressions_of(plan: Plan) -> tuple[PAttribute, ...]:
    """Return the p-attributes of a plan in the order of the plan, then the expressions of its operators, without
    repetition.

    The expressions of operators are not part of the plan's constructs, but a batch computes them as well.
    """
    destinations: tuple[FeedDestination | FoldDestination, ...] = (*destinations_in(plan), *folds_in(plan))
    own = (one for destination in destinations for one in expressions_of_destination(destination))
    return tuple(dict.fromkeys((*plan.p_attributes, *own)))


def expressions_of_destination(destination: FeedDestination | FoldDestination) -> tuple[PAttribute, ...]:
    """Return the expressions of a record that the operator of one query reads, as the batch computes them.

    For the feed these are key, time and position, and the values that a condition reads of both objects.
    """
    if isinstance(destination, FoldDestination):
        return destination.attributes
    track = destination.track
    return (
        *(() if track.key == NO_KEY else (PAttribute(track.key, pa.string()),)),
        PAttribute(track.time_us, pa.int64()),
        *(PAttribute(part, pa.float64()) for part in track.position),
        *(PAttribute(carried_sql([column]), pa.string()) for column in track.carried or ()),
    )
