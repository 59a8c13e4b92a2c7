"""Validated queries, and their entries in plans: one entry for a query, and one for each shape of a join."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from asc.errors import PredicateError
from asc.keys.attribute import PAttribute
from asc.operators.feed import QuerySettings
from asc.plan.destination import Destination
from asc.plan.plan import Plan, Query
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.predicate.normal_form.join_predicate import JoinEffort, JoinPredicate
from asc.spatial.feature import Feature
from asc.spatial.layer import Layer
from broker.cancellation import Cancellation
from broker.errors import QueryError
from broker.matching.plan_ids import member_id, members_in
from broker.operators.expression import NO_EXPRESSIONS, OperatorExpressions
from broker.operators.feed_destination import FeedDestination, selection_of, selection_of_join
from broker.operators.fold_destination import FoldDestination
from broker.operators.kind import FoldedQuery
from broker.operators.kinds import feed_kinds, fold_kinds, kind_of
from broker.operators.plan_expressions import expressions_of_destination
from broker.plans.sorted_map import SortedMap
from broker.queries.query import RegisteredQuery
from broker.stream.analyser import StreamAnalyser

_NAMED_COUNT = 5
"""The largest number of shapes that a warning names."""


@dataclass(frozen=True, eq=False)
class Members:
    """The members of a join: a predicate for each row of its layer.

    ``refused``: the errors of the shapes whose row's values make the predicate invalid; such shapes have no member.
    Invariant: the result depends only on the join's predicate and the rows. Cost: the predicates, and the cost of
    :class:`JoinPredicate` for each row.
    """

    join: JoinPredicate
    rows: Mapping[str, Feature]
    predicates: Mapping[str, Predicate]
    refused: Mapping[str, PredicateError]

    @staticmethod
    def of(
        join: JoinPredicate,
        rows: Mapping[str, Feature],
        cancellation: Cancellation | None = None,
        *,
        computed_max: int | None = None,
        is_bounded: bool = False,
    ) -> Members:
        """Return the members for rows of the layer. ``cancellation`` is checked between two rows; if it is set, raise
        CancelledError. Raise QueryError once Spark would compute more than ``computed_max`` expressions. If
        ``is_bounded``, raise PredicateError once the rows have taken more effort than a join may.
        """
        effort = JoinEffort(join, rows) if is_bounded else None
        predicates: dict[str, Predicate] = {}
        refused: dict[str, PredicateError] = {}
        computed: set[PAttribute] = set()
        for shape_id, row in rows.items():
            if cancellation is not None:
                cancellation.check()
            if effort is not None:
                effort.check()
            try:
                predicates[shape_id] = made = join.of(row, effort)
            except PredicateError as error:
                refused[shape_id] = error
                continue
            if computed_max is not None:
                computed.update(attribute for attribute in made.read if attribute.is_computed)
                if len(computed) > computed_max:
                    raise too_many_expressions(made.text, computed_max)
        return Members(join, rows, predicates, refused)

    def over(self, rows: Mapping[str, Feature], cancellation: Cancellation | None = None) -> Members:
        """Return the members for other rows of the layer. Members of unchanged rows are reused.

        Raise CancelledError. Raise PredicateError if the changed rows take more effort than a join may.
        """
        if rows is self.rows:
            return self
        changed = _sorted(rows).differences(_sorted(self.rows))
        came = {key: rows[key] for key in changed if key in rows}
        fresh = Members.of(self.join, came, cancellation, is_bounded=True)
        predicates = {key: one for key, one in self.predicates.items() if key not in changed}
        refused = {key: one for key, one in self.refused.items() if key not in changed}
        return Members(self.join, rows, {**predicates, **fresh.predicates}, {**refused, **fresh.refused})

    @cached_property
    def computed(self) -> Mapping[PAttribute, None]:
        """Return the expressions that Spark computes for all members together, in the order of first use."""
        return dict.fromkeys(a for predicate in self.predicates.values() for a in predicate.read if a.is_computed)


@dataclass(frozen=True, slots=True)
class ValidatedQuery:
    """A query that was validated and may be served.

    ``predicate``: the query's predicate; for a join, the predicate that holds for all shapes
    (:attr:`JoinPredicate.template`). ``members``: for a join, the predicates that plans contain. ``expressions``: the
    checked expressions of the operator.
    """

    query: RegisteredQuery
    predicate: Predicate
    members: Members | None = None
    expressions: OperatorExpressions = NO_EXPRESSIONS

    @staticmethod
    def of(
        query: RegisteredQuery,
        analyser: StreamAnalyser,
        shapes: Mapping[str, Layer],
        *,
        may_wait: bool = True,
        is_bounded: bool = False,
        patiently: bool = False,
        computed_max: int | None = None,
        cancellation: Cancellation | None = None,
    ) -> ValidatedQuery:
        """Validate a query with the current ``shapes`` of layers, and return the validated query. Raise AscError if the
        query is refused.

        ``may_wait``: the query is already registered. So missing shapes are waited for, refused shapes are excluded,
        and the effort of a join is not bounded. ``is_bounded``: bound the effort nevertheless, because no plan has the
        query. ``patiently``: give Spark as long as it needs for an operator's conditions. ``computed_max``,
        ``cancellation``: as in :meth:`Members.of`.
        """
        if query.join is None:
            predicate = analyser.normalise(query.where, shapes, may_wait=may_wait)
            return ValidatedQuery(query, predicate, None, _expressions(query, analyser, patiently=patiently))
        _check_join(query)
        layer = query.join.layer
        join = analyser.join(query.where, layer, shapes, may_wait=may_wait)
        rows = shapes[layer].features
        is_bounded = is_bounded or not may_wait
        if is_bounded:
            join.check_effort(rows)
        elif query.paused:
            # No plan contains a paused query. Its members are validated when it is resumed.
            rows = {}
        most = None if query.paused else computed_max
        members = Members.of(join, rows, cancellation, computed_max=most, is_bounded=is_bounded)
        if members.refused and not may_wait:
            shape_id, error = next(iter(members.refused.items()))
            raise of_shape(error, layer, shape_id)
        return ValidatedQuery.of_members(query, analyser, members)

    @staticmethod
    def of_members(query: RegisteredQuery, analyser: StreamAnalyser, members: Members) -> ValidatedQuery:
        """Return a join as a validated query with ``members``, which are some or all of its members."""
        return ValidatedQuery(query, members.join.template, members, _expressions(query, analyser))

    def over(self, shapes: Mapping[str, Layer], cancellation: Cancellation | None = None) -> ValidatedQuery:
        """Return the validated query after the layers have changed to ``shapes``. Errors are as in
        :meth:`Members.over`.
        """
        if self.members is None or self.query.join is None:
            return self
        return replace(self, members=self.members.over(shapes[self.query.join.layer].features, cancellation))

    @property
    def read(self) -> tuple[PAttribute, ...]:
        """Return the distinct p-attributes that the query reads. For a join, these are only the p-attributes of its
        operator.
        """
        expressions = self.expressions.all
        own = expressions if self.members is not None else (self.predicate, *expressions)
        return tuple(dict.fromkeys(a for each in own for a in each.read))

    @property
    def computed(self) -> list[PAttribute]:
        """Return the expressions that Spark would compute for the query, in the order of first use."""
        if self.members is not None:
            return list(dict.fromkeys((*self.members.computed, *(a for a in self.read if a.is_computed))))
        # A shortcut, because a bulk load may have a million queries: plain terms have no such expressions.
        if self.predicate.forms is not None and not self.expressions.all:
            return []
        return [attribute for attribute in self.read if attribute.is_computed]

    @property
    def computed_texts(self) -> set[str]:
        """Return the SQL texts of all expressions that a batch computes for the query, including its operator's."""
        destination = self.destination
        own = () if destination is None else expressions_of_destination(destination)
        return {attribute.sql for attribute in (*self.computed, *own)}

    @property
    def computes_by_row(self) -> bool:
        """Return whether some rows of the join's layer need other Spark expressions than other rows."""
        return self.members is not None and not self.members.computed.keys() <= set(self.predicate.read)

    def planned(self) -> list[Query]:
        """Return the entries that the query has in plans if it is not paused: one, or one for each member of a join."""
        query, own = self.query, self.destination
        destination = None if own is None else own.in_plan()
        if self.members is not None:
            return members_of(query, self.members.predicates, destination)
        return [Query(query.id, self.predicate, query.topic, destination)]

    @property
    def destination(self) -> FeedDestination | FoldDestination | None:
        """Return the operator destination of the query, as plans have it. Return None if the query has no operator, so
        that its matches go to its topic.
        """
        query, definition = self.query, self.query.operator
        if definition is None:
            return None
        folded = fold_kinds().get(definition.name)
        if folded is not None:
            planned = FoldedQuery(query.id, query.stream, query.where, query.topic)
            destination = folded.destination(definition, planned, self.predicate, self.expressions)
            return replace(destination, since=query.since)
        join = query.join
        selection = selection_of(self.predicate) if join is None else selection_of_join(query.where, join.layer)
        settings = QuerySettings(query.id, query.topic, "", "", (selection,), {"since": query.since})
        return feed_kinds()[definition.name].destination(definition, settings, self.predicate, self.expressions)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings for the query's registration."""
        warnings = (*self.predicate.warnings, *self.expressions.warnings)
        refused = {} if self.members is None else self.members.refused
        if not refused:
            return warnings
        listed = "; ".join(f"{shape_id}: {refused[shape_id]}" for shape_id in list(refused)[:_NAMED_COUNT])
        many = "1 shape of its layer is" if len(refused) == 1 else f"{len(refused):,} shapes of its layer are"
        return (*warnings, f"{many} excluded: {listed}")


def members_of(
    query: RegisteredQuery, predicates: Mapping[str, Predicate], destination: Destination | None
) -> list[Query]:
    """Return the members of a join as plan entries. ``predicates``: by shape id."""
    per_shape = query.join is not None and query.join.per_shape
    return [
        Query(member_id(query.id, shape_id, per_shape=per_shape), predicate, query.topic, destination)
        for shape_id, predicate in predicates.items()
    ]


def plan_id_of(query: RegisteredQuery, shape_id: str | None) -> str:
    """Return the id in plans of a query, or of a join's member for a shape."""
    if query.join is None or shape_id is None:
        return query.id
    return member_id(query.id, shape_id, per_shape=query.join.per_shape)


def planned_ids(plan: Plan, query: RegisteredQuery) -> Collection[str]:
    """Return the ids under which a plan contains a served query."""
    return [query.id] if query.join is None else members_in(plan, query.id)


def too_many_expressions(where: str, most: int) -> QueryError:
    """Return the error of a join for which Spark would have to compute too many expressions."""
    remedy = (
        f"has Spark compute more than {most} expressions for the shapes of its layer: store what is compared in the"
    )
    return QueryError("predicate", where[:200], f"{remedy} shapes, or raise limits.spark_attributes")


def _sorted(rows: Mapping[str, Feature]) -> SortedMap[str, Feature]:
    return rows if isinstance(rows, SortedMap) else SortedMap(rows)


def of_shape(error: PredicateError, layer: str, shape_id: str) -> PredicateError:
    """Return the error with a longer subject, which also names the shape whose row caused the error."""
    subject = f"of shape {layer}/{shape_id}: {error.subject}"
    return PredicateError(subject, error.value, error.remedy, text=error.text, start=error.start, end=error.end)


def _check_join(query: RegisteredQuery) -> None:
    """Raise QueryError if a query has both a join and an operator that does not allow the join."""
    definition, join = query.operator, query.join
    if definition is None or join is None:
        return
    kind = kind_of(definition)
    if not kind.allows_join:
        raise QueryError(
            f"join with operator {kind.name}",
            query.id,
            "does not go together: give a WHERE without a layer, and no join",
        )
    if join.per_shape:
        remedy = "delivers a record a shape, and an operator takes each shape by itself: leave out per_shape"
        raise QueryError(f"join with operator {kind.name}", query.id, remedy)


def _expressions(query: RegisteredQuery, analyser: StreamAnalyser, *, patiently: bool = False) -> OperatorExpressions:
    definition = query.operator
    if definition is None:
        return NO_EXPRESSIONS
    return kind_of(definition).read(definition, analyser, patiently=patiently)
