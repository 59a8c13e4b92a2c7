"""Queries that were judged, and what plans hold of them: one of its own, or of a join one a shape."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from asc.errors import PredicateError
from asc.keys.attribute import PAttribute
from asc.plan.plan import Plan, Query
from asc.predicate.join import JoinPredicate
from asc.predicate.limits import Limits
from asc.predicate.normal_form import Predicate
from asc.predicate.parser import parse
from asc.predicate.reader import SYNTAX_REMEDY
from asc.predicate.syntax import shortened
from asc.spatial.feature import Feature
from asc.spatial.layer import Layer
from broker.errors import QueryError
from broker.matching.plan_ids import member_id, members_in
from broker.operators.events.definition import EventsOperator
from broker.operators.expressions import expressions_of_destination
from broker.operators.fed_destination import FedDestination
from broker.operators.near.condition import CarriedColumn
from broker.operators.near.definition import NearOperator
from broker.operators.query_operator import QueryOperator
from broker.plans.sorted_map import SortedMap
from broker.queries.query import RegisteredQuery
from broker.stream.analyser import StreamAnalyser

_TOLD = 5
"""Shapes that a warning names."""


@dataclass(frozen=True, eq=False)
class Members:
    """What a join stands for over the rows of its layer: a predicate for each shape, but for those that are refused
    with the values of a row (``refused``: why, by shape).

    Invariant: a function of the join's predicate and the rows, whatever came before. Cost: beside the predicates, what
    :class:`JoinPredicate` takes a row.
    """

    join: JoinPredicate
    rows: Mapping[str, Feature]
    predicates: Mapping[str, Predicate]
    refused: Mapping[str, PredicateError]

    @staticmethod
    def of(join: JoinPredicate, rows: Mapping[str, Feature]) -> Members:
        """Those of some rows."""
        predicates: dict[str, Predicate] = {}
        refused: dict[str, PredicateError] = {}
        for shape_id, row in rows.items():
            try:
                predicates[shape_id] = join.of(row)
            except PredicateError as error:
                refused[shape_id] = error
        return Members(join, rows, predicates, refused)

    def over(self, rows: Mapping[str, Feature]) -> Members:
        """Those of other rows of the layer; what both have is taken over."""
        if rows is self.rows:
            return self
        changed = _sorted(rows).differences(_sorted(self.rows))
        fresh = Members.of(self.join, {key: rows[key] for key in changed if key in rows})
        predicates = {key: one for key, one in self.predicates.items() if key not in changed}
        refused = {key: one for key, one in self.refused.items() if key not in changed}
        return Members(self.join, rows, {**predicates, **fresh.predicates}, {**refused, **fresh.refused})

    @cached_property
    def computed(self) -> Mapping[PAttribute, None]:
        """The expressions that Spark computes for all of them together, in the order of first use."""
        return dict.fromkeys(a for predicate in self.predicates.values() for a in predicate.read if a.is_computed)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A query that was judged and may be served. ``predicate``: of a join what holds for all of its shapes
    (:attr:`JoinPredicate.template`), whose ``members`` plans hold. ``expressions``: what its operator reads of a record
    beside that, each as a predicate of the one p-attribute that it is, in the order of the operator's; after them
    those of the columns that the condition of a near query reads (``carried``).
    """

    query: RegisteredQuery
    predicate: Predicate
    members: Members | None = None
    expressions: tuple[Predicate, ...] = ()
    carried: tuple[CarriedColumn, ...] = ()

    @staticmethod
    def of(
        query: RegisteredQuery,
        analyser: StreamAnalyser,
        shapes: Mapping[str, Layer],
        *,
        may_wait: bool = True,
        patiently: bool = False,
    ) -> Candidate:
        """A query over the layers that stand; AscError where it is refused. ``may_wait``: it stands already, so that
        shapes that are not there are waited for, and those that are refused left out. ``patiently``: Spark has all the
        time that it needs for the condition of a near query.
        """
        if query.join is None:
            predicate = analyser.normalise(query.where, shapes, may_wait=may_wait)
            carried = _carried(query.operator, analyser, patiently=patiently)
            return Candidate(query, predicate, None, _expressions(query.operator, carried, analyser), carried)
        if isinstance(query.operator, NearOperator):
            raise QueryError("join with pairs of objects", query.id, "is not known: give a predicate without a layer")
        if query.operator is not None and query.join.pairs:
            raise QueryError("join with events", query.id, "has pairs, and an event is of one shape: leave out pairs")
        layer = query.join.layer
        join = analyser.join(query.where, layer, shapes, may_wait=may_wait)
        members = Members.of(join, shapes[layer].features)
        if members.refused and not may_wait:
            shape_id, error = next(iter(members.refused.items()))
            raise of_shape(error, layer, shape_id)
        return Candidate.of_members(query, analyser, members)

    @staticmethod
    def of_members(query: RegisteredQuery, analyser: StreamAnalyser, members: Members) -> Candidate:
        """A join with some of its members, or all."""
        return Candidate(query, members.join.template, members, _expressions(query.operator, (), analyser))

    def over(self, shapes: Mapping[str, Layer]) -> Candidate:
        """Itself over the layers that stand by now."""
        if self.members is None or self.query.join is None:
            return self
        return replace(self, members=self.members.over(shapes[self.query.join.layer].features))

    @property
    def read(self) -> tuple[PAttribute, ...]:
        """The p-attributes whose values it needs beside those of its members, each once."""
        own = self.expressions if self.members is not None else (self.predicate, *self.expressions)
        return tuple(dict.fromkeys(a for each in own for a in each.read))

    @property
    def computed(self) -> list[PAttribute]:
        """The expressions that Spark would compute for it, in the order of first use."""
        if self.members is not None:
            return list(dict.fromkeys((*self.members.computed, *(a for a in self.read if a.is_computed))))
        # Plain terms have none, and a bulk load has a million of them.
        if self.predicate.forms is not None and not self.expressions:
            return []
        return [attribute for attribute in self.read if attribute.is_computed]

    @property
    def computed_texts(self) -> set[str]:
        """The SQL texts of all that a batch computes for it, its operator's expressions included."""
        texts = {attribute.sql for attribute in self.computed}
        operator = self.query.operator
        if operator is None:
            return texts
        return texts.union(one.sql for one in expressions_of_destination(self.destination("", operator)))

    @property
    def computes_by_row(self) -> bool:
        """Whether Spark computes other expressions for some rows of its layer than for others."""
        return self.members is not None and not self.members.computed.keys() <= set(self.predicate.read)

    def planned(self, feed_topic: str) -> list[Query]:
        """What plans hold of it while it runs; ``feed_topic``: of its stream, for operators that read from that."""
        query, operator = self.query, self.query.operator
        destination = query.topic
        if operator is not None:
            destination = self.destination(feed_topic, operator).text()
        if self.members is not None:
            return members_of(query, self.members.predicates, destination)
        return [Query(query.id, self.predicate, destination)]

    def destination(self, feed_topic: str, operator: QueryOperator) -> FedDestination:
        """Where the matches of a query with an operator go."""
        query = self.query
        own = [expression.read[0] for expression in self.expressions[: len(operator.expressions())]]
        if isinstance(operator, EventsOperator):
            return operator.destination(feed_topic, query.id, query.topic, own=own, predicate=self.predicate)
        return operator.destination(feed_topic, query.id, query.topic, own=own, carried=self.carried)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said of it."""
        refused = {} if self.members is None else self.members.refused
        if not refused:
            return self.predicate.warnings
        told = "; ".join(f"{shape_id}: {refused[shape_id]}" for shape_id in list(refused)[:_TOLD])
        return (*self.predicate.warnings, f"{len(refused):,} shapes of its layer are left out: {told}")


def members_of(query: RegisteredQuery, predicates: Mapping[str, Predicate], destination: str) -> list[Query]:
    """Members of a join, by the shapes of their predicates, as plans hold them."""
    pairs = query.join is not None and query.join.pairs
    return [
        Query(member_id(query.id, shape_id, pairs=pairs), predicate, destination)
        for shape_id, predicate in predicates.items()
    ]


def plan_id_of(query: RegisteredQuery, shape_id: str | None) -> str:
    """What plans call a query, or the member of a join for a shape."""
    if query.join is None or shape_id is None:
        return query.id
    return member_id(query.id, shape_id, pairs=query.join.pairs)


def planned_ids(plan: Plan, query: RegisteredQuery) -> Collection[str]:
    """What a plan calls what it holds of a query that it serves."""
    return [query.id] if query.join is None else members_in(plan, query.id)


def _sorted(rows: Mapping[str, Feature]) -> SortedMap[str, Feature]:
    return rows if isinstance(rows, SortedMap) else SortedMap(rows)


def of_shape(error: PredicateError, layer: str, shape_id: str) -> PredicateError:
    """The error, with the shape whose row it is about."""
    subject = f"of shape {layer}/{shape_id}: {error.subject}"
    return PredicateError(subject, error.value, error.remedy, text=error.text, start=error.start, end=error.end)


def _carried(operator: QueryOperator | None, analyser: StreamAnalyser, *, patiently: bool) -> tuple[CarriedColumn, ...]:
    if not isinstance(operator, NearOperator) or operator.on is None:
        return ()
    return analyser.near_condition(operator.on, patiently=patiently).columns


def _expressions(
    operator: QueryOperator | None, carried: Sequence[CarriedColumn], analyser: StreamAnalyser
) -> tuple[Predicate, ...]:
    if operator is None:
        return ()
    # As predicates they go through all that keeps an expression from throwing or stalling.
    own = [_read(name, given, text, analyser) for name, (given, text) in operator.expressions().items()]
    return (*own, *(analyser.normalise(f"{column.text} IS NOT NULL") for column in carried))


def _read(name: str, given: str, text: str, analyser: StreamAnalyser) -> Predicate:
    is_predicate = name == "position"
    try:
        found = analyser.normalise(text if is_predicate else f"{text} IS NOT NULL")
    except PredicateError as error:
        raise QueryError(f"operator.{name}", given[:200], _told(error, given, text)) from None
    if len(found.read) != 1 or not found.columns or is_predicate != bool(found.read[0].parts):
        raise QueryError(f"operator.{name}", given[:200], "is the same for every record: name what differs")
    return found


def _told(error: PredicateError, given: str, text: str) -> str:
    """What is wrong with an expression, in words of what was given and not of the text around it."""
    if error.value == shortened(text):
        return "is no TIMESTAMP: name one, or CAST it to one"
    try:
        parse(given, Limits(), "UTC")
    except PredicateError as own:
        error = own
    remedy = error.remedy.replace(SYNTAX_REMEDY, "write an expression of Spark SQL")
    return f"{error.subject} {str(error.value)!r}: {remedy}"
