"""Joins in plans: the members of a join, and the limits on the shapes of joins. A member is the entry of a join in a
plan for one shape of the layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from asc.errors import AscError, PredicateError
from asc.plan.plan import Plan, Query
from asc.spatial.feature import Feature
from broker.cancellation import Cancellation
from broker.errors import QueryError
from broker.layers.stored_layer import StoredLayer
from broker.matching.plan_ids import member_id
from broker.plans.sorted_map import SortedMap
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.validated_query import Members, ValidatedQuery
from broker.stream.analyser import StreamAnalyser

Reshaped = Mapping[str, Collection[str] | None]
"""The ids of the changed rows (shapes with their properties) by layer. None in place of ids: any row of the layer may
have changed.
"""


Made = Mapping[str, tuple[RegisteredQuery, Members]]
"""The members of joins for changed shapes, by the join's id, each with the join from which they were computed."""


@dataclass(frozen=True, slots=True)
class Changed:
    """The changes of a query set: ids of queries, and shapes of layers.

    ``made``: the members of joins that were already computed for the changed shapes.
    """

    queries: Collection[str]
    shapes: Reshaped = field(default_factory=dict)
    made: Made = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Moved:
    """The members of joins to add to plans and to remove from them, by stream.

    ``come``: the members to add. ``gone``: the plan ids of the members to remove. ``again``: the ids of joins that must
    be validated as a whole.
    """

    come: dict[str, list[Query]] = field(default_factory=dict)
    gone: dict[str, list[str]] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)


def made_members(
    analysers: Mapping[str, StreamAnalyser],
    after: QuerySet,
    shapes: Reshaped,
    *,
    computed_max: int,
    cancellation: Cancellation,
) -> Made:
    """Return the members for changed shapes. They belong to the joins that are served in ``after``, the query set after
    the change.

    A join that is refused by now, for example because of a shape that it names, has no entry. ``computed_max``: see
    :meth:`Members.of`. Raise CancelledError if ``cancellation`` is set.
    """
    made: dict[str, tuple[RegisteredQuery, Members]] = {}
    for layer, ids in shapes.items():
        for query in after.joins_over(layer):
            stream = after.planned_on(query.id)
            if ids is not None and stream is not None:
                cancellation.check()
                with suppress(PredicateError, QueryError):
                    own = _members(
                        analysers[stream], query, after, ids, computed_max=computed_max, cancellation=cancellation
                    )
                    made[query.id] = query, own
    return made


def _members(
    analyser: StreamAnalyser,
    query: RegisteredQuery,
    after: QuerySet,
    ids: Collection[str],
    *,
    computed_max: int,
    cancellation: Cancellation | None = None,
) -> Members:
    assert query.join is not None
    layer = query.join.layer
    rows = after.shapes[layer].features
    own = {shape_id: row for shape_id in ids if (row := rows.get(shape_id)) is not None}
    join = analyser.join(query.where, layer, after.shapes, may_wait=True)
    return Members.of(join, own, cancellation, computed_max=computed_max)


def check_growth(
    analysers: Mapping[str, StreamAnalyser],
    standing: QuerySet,
    layer: str,
    rows: Mapping[str, Feature],
    cancellation: Cancellation,
) -> None:
    """Raise QueryError if new rows of a layer would exceed the effort that a served join over the layer may take.

    Call this before the rows are written, with the cancellation of the request. Rows that are written enter plans
    whatever the effort, and changes of all layers wait until they have. Cost: if the number of rows does not decide,
    the computation of the join's members. Raise CancelledError.
    """
    for query in standing.joins_over(layer):
        stream = standing.planned_on(query.id)
        if stream is None:
            continue
        cancellation.check()
        try:
            join = analysers[stream].join(query.where, layer, standing.shapes, may_wait=True)
        except PredicateError:
            # The predicate is refused with the new layer, so it has no members.
            continue
        try:
            if join.may_exceed_effort(rows):
                join.check_effort(rows)
                Members.of(join, rows, cancellation, is_bounded=True)
        except PredicateError as error:
            remedy = f"nothing was written: {error.subject} {error.remedy}; or write fewer rows at a time, or pause it"
            raise QueryError("rows for join", query.id, remedy) from error


def moved_members(
    analysers: Mapping[str, StreamAnalyser],
    after: QuerySet,
    plans: Mapping[str, Plan],
    changed: Changed,
    again: Collection[str],
    *,
    computed_max: int,
) -> Moved:
    """Return the plan changes of the served joins for changed shapes, except for the joins in ``again``.

    Only the members of the changed shapes are computed anew. A join for which Spark would have to compute further
    expressions is returned in ``again``, to be validated as a whole.
    """
    moved = Moved()
    for layer, ids in changed.shapes.items():
        for query in after.joins_over(layer):
            stream = after.planned_on(query.id)
            if ids is None or query.id in again or stream is None or stream not in plans:
                continue
            plan, (made_of, members) = plans[stream], changed.made.get(query.id, (None, None))
            if members is None or made_of is not query:
                try:
                    members = _members(analysers[stream], query, after, ids, computed_max=computed_max)
                except QueryError:
                    moved.again.add(query.id)
                    continue
            if not members.computed.keys() <= plan.computed:
                moved.again.add(query.id)
                continue
            per_shape = query.join is not None and query.join.per_shape
            wanted = (member_id(query.id, shape_id, per_shape=per_shape) for shape_id in ids)
            moved.gone.setdefault(stream, []).extend(plan_id for plan_id in wanted if plan_id in plan)
            candidate = ValidatedQuery.of_members(query, analysers[stream], members)
            moved.come.setdefault(stream, []).extend(candidate.planned())
    return moved


def reshaped(then: Mapping[str, StoredLayer], now: Mapping[str, StoredLayer]) -> Reshaped:
    """Return the ids of the rows that differ between two states of the layers."""
    none: SortedMap[str, Feature] = SortedMap()
    return {
        name: stored.rows.differences(then[name].rows if name in then else none)
        for name, stored in now.items()
        if stored is not then.get(name)
    }


def change_count(then: QuerySet, now: QuerySet) -> int:
    """Return the number of queries that differ between two sets, plus the number of changed shapes of joined layers."""
    shapes = reshaped(then.layers, now.layers)
    moved = sum(len(ids or ()) for name, ids in shapes.items() if now.joins_over(name))
    return len(now.queries.differences(then.queries)) + moved


def crowded_joins(standing: QuerySet, most: int) -> set[str]:
    """Return the ids of all joins of those streams whose joins have more than ``most`` shapes together. The caller
    decides again which of these joins are served.
    """
    running = _running_joins(standing)
    counts = Counter[str]()
    for query, count in running:
        counts[query.stream] += count
    return {query.id for query, _ in running if counts[query.stream] > most}


def over_too_many_shapes(candidates: Sequence[ValidatedQuery], standing: QuerySet, most: int) -> dict[int, AscError]:
    """Return the refusals, by index, of the joins among ``candidates`` (validated queries to be registered) with which
    a stream would have too many shapes. The shapes of the standing joins and of earlier candidates are counted. Paused
    joins have no shapes.
    """
    joins = [
        (i, one.query, len(one.members.rows))
        for i, one in enumerate(candidates)
        if one.members is not None and not one.query.paused
    ]
    if not joins:
        return {}
    refused: dict[int, AscError] = {}
    own, counts = {one.query.id for one in candidates}, Counter[str]()
    for query, count in _running_joins(standing):
        counts[query.stream] += count * (query.id not in own)
    for i, query, count in joins:
        if counts[query.stream] + count > most:
            remedy = f"stream '{query.stream}' would have joins over more than {most:,} shapes together: remove one"
            refused[i] = QueryError("join", query.id, f"{remedy}, or raise limits.stream_join_shapes")
        else:
            counts[query.stream] += count
    return refused


def _running_joins(standing: QuerySet) -> list[tuple[RegisteredQuery, int]]:
    """Return the joins that are not paused, each with the number of shapes in its layer.

    Joins that are not served are included, because the oldest joins are served first when capacity is free or the
    daemon starts.
    """
    return [
        (query, len(layer.features))
        for name, layer in standing.shapes.items()
        for query in standing.joins_over(name)
        if not query.paused
    ]
