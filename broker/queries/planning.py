"""The compilation of registered queries into plans, and the refusal of queries that cannot be served."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from asc.errors import AscError
from asc.keys.attribute import PAttribute
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.spatial.feature import Feature
from asc.spatial.layer import Layer
from broker.cancellation import Cancellation
from broker.config.config import Config
from broker.errors import QueryError
from broker.queries.expansion import (
    Changed,
    Made,
    Reshaped,
    check_growth,
    crowded_joins,
    made_members,
    moved_members,
    over_too_many_shapes,
    reshaped,
)
from broker.queries.operator_limits import StandingOperators, excess_of_operators
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.rules import TopicLoops, check_destination
from broker.queries.topic_owners import shared_topics
from broker.queries.unserved_queries import UnservedQueries
from broker.queries.validated_query import ValidatedQuery, planned_ids
from broker.stream.analyser import NO_LAYERS, StreamAnalyser

_LARGE = 5_000
"""The smallest number of queries of a large plan (:func:`is_large`). To compile so many queries takes a tenth of a
second.
"""


@dataclass(frozen=True, slots=True)
class _Work:
    """The work of expressions for Spark: the number of expressions, and the sums of their nodes (operators and
    operands) and of their steps (:class:`PAttribute`).
    """

    expressions: int
    nodes: int
    steps: int

    @classmethod
    def of(cls, attributes: Collection[PAttribute]) -> _Work:
        nodes = sum(attribute.weight for attribute in attributes)
        return cls(len(attributes), nodes, sum(attribute.steps for attribute in attributes))

    def __add__(self, other: _Work) -> _Work:
        return _Work(self.expressions + other.expressions, self.nodes + other.nodes, self.steps + other.steps)


class Planning:
    """The rules by which queries become plans: the limits of the configuration, and Spark's acceptance of expressions.

    A registration that breaks a rule is refused. A registered query that breaks a rule (because the configuration
    changed) stays registered but is not served, so other queries are not affected. Invariant: stateless, except for
    caches of Spark's answers and of facts about queries that are not served.
    """

    def __init__(self, config: Config, analysers: Mapping[str, StreamAnalyser]) -> None:
        self._config = config
        self._analysers = analysers
        self._unserved = UnservedQueries(config, analysers)
        self.options = CompileOptions(spark_attributes=config.limits.spark_attributes)

    def plans(
        self,
        queries: Iterable[RegisteredQuery],
        version: int,
        parked: Callable[[RegisteredQuery], str | None] = lambda query: None,
        shapes: Mapping[str, Layer] = NO_LAYERS,
    ) -> tuple[dict[str, Plan], dict[str, str]]:
        """Return the plan of every stream, and the queries that no plan serves, with the reasons.

        ``parked`` returns the reason why a query is not to be served, or None. If all queries together would exceed
        Spark's limits or close a loop of topics, the oldest queries are served.
        """
        found, unserved = self._servable(queries, parked, shapes)
        for position, refusal in self._refusals(found, QuerySet(), {}, StandingOperators(), patiently=True).items():
            unserved[found[position].query.id] = str(refusal)
        served = self._by_stream(found, unserved)
        return {
            name: compile_plan(served.get(name, ()), self.options, version) for name in self._config.streams
        }, unserved

    def plans_after(
        self,
        before: QuerySet,
        plans: Mapping[str, Plan],
        after: QuerySet,
        changed: Changed,
        parked: Callable[[RegisteredQuery], str | None] = lambda query: None,
    ) -> tuple[dict[str, Plan], dict[str, str]]:
        """Return the result of :meth:`plans` for the queries ``after``, derived from the plans of ``before``.

        Only queries in ``changed``, and queries that were not served, are validated. Raise PlanError if the plans
        exceed a bound of plans.
        """
        crowded = crowded_joins(after, self._config.limits.stream_join_shapes)
        again = {*changed.queries, *after.naming(changed.shapes), *before.unserved, *crowded}
        moved = moved_members(self._analysers, after, plans, changed, again, computed_max=self.options.spark_attributes)
        again |= moved.again
        gone = moved.gone
        for query_id in again:
            stream = before.planned_on(query_id)
            if stream is not None:
                gone.setdefault(stream, []).extend(planned_ids(plans[stream], before.get(query_id)))
        # Removed first, because this frees the capacity of expressions that Spark computed only for them.
        left = {name: self._changed(plan, (), gone.get(name, ()), after.version) for name, plan in plans.items()}
        found, unserved = self._servable([after.get(name) for name in again if name in after], parked, after.shapes)
        computed, operators = {name: plan.computed for name, plan in left.items()}, StandingOperators(left)
        for position, refusal in self._refusals(found, after, computed, operators, patiently=True).items():
            unserved[found[position].query.id] = str(refusal)
        served = self._by_stream(found, unserved)
        return {
            name: self._changed(plan, [*served.get(name, ()), *moved.come.get(name, ())], (), after.version)
            for name, plan in left.items()
        }, unserved

    def made_members(self, after: QuerySet, shapes: Reshaped, cancellation: Cancellation) -> Made:
        """Return the result of :func:`broker.queries.expansion.made_members`."""
        most = self.options.spark_attributes
        return made_members(self._analysers, after, shapes, computed_max=most, cancellation=cancellation)

    def check_growth(
        self, standing: QuerySet, layer: str, rows: Mapping[str, Feature], cancellation: Cancellation
    ) -> None:
        """Raise QueryError for rows that :func:`broker.queries.expansion.check_growth` refuses."""
        check_growth(self._analysers, standing, layer, rows, cancellation)

    def caught_up(self, stream: str, plan: Plan, then: QuerySet, now: QuerySet) -> Plan:
        """Return a plan of the queries that a stream serves in ``then``, updated with the changes from ``then`` to
        ``now``. The changed queries are not validated again. Raise AscError if the plan exceeds a bound.
        """
        changed = now.queries.differences(then.queries) | now.unserved.differences(then.unserved)
        shapes = reshaped(then.layers, now.layers)
        changed |= now.naming(shapes)
        changes = Changed((), shapes)
        moved = moved_members(
            self._analysers, now, {stream: plan}, changes, changed, computed_max=self.options.spark_attributes
        )
        changed |= moved.again
        before = [then.get(query_id) for query_id in changed if then.planned_on(query_id) == stream]
        come = [now.get(query_id) for query_id in changed if now.planned_on(query_id) == stream]
        gone = [*moved.gone.get(stream, ()), *(plan_id for query in before for plan_id in planned_ids(plan, query))]
        queries = list(moved.come.get(stream, ()))
        for query in come:
            queries += ValidatedQuery.of(query, self._analysers[stream], now.shapes).planned()
        return self._changed(self._changed(plan, (), gone, now.version), queries, (), now.version)

    @staticmethod
    def _changed(plan: Plan, come: Sequence[Query], gone: Sequence[str], version: int) -> Plan:
        if not come and not gone:
            return replace(plan, version=version)
        return change_plan(plan, come, gone, version, postpones=is_large(plan))

    def _servable(
        self,
        queries: Iterable[RegisteredQuery],
        parked: Callable[[RegisteredQuery], str | None],
        shapes: Mapping[str, Layer],
    ) -> tuple[list[ValidatedQuery], dict[str, str]]:
        """Return the queries that may be served, oldest first, and the refusals that do not depend on other queries."""
        unserved: dict[str, str] = {}
        servable: list[ValidatedQuery] = []
        for query in sorted(queries, key=lambda query: query.version):
            kept_out = query.unreadable or parked(query)
            if kept_out is not None:
                unserved[query.id] = kept_out
                continue
            try:
                if query.stream not in self._config.streams:
                    remedy = "is not configured: name it in the configuration, or remove the query"
                    raise QueryError("stream", query.stream, remedy)
                if not query.paused:
                    check_destination(query.topic, query.stream, self._config)
                    most, analyser = self.options.spark_attributes, self._analysers[query.stream]
                    servable.append(ValidatedQuery.of(query, analyser, shapes, patiently=True, computed_max=most))
            except AscError as error:
                unserved[query.id] = str(error)
        return servable, unserved

    def asked(
        self, candidates: Mapping[int, ValidatedQuery], cancellation: Cancellation | None = None
    ) -> dict[int, AscError]:
        """Return Spark's refusals of candidates (validated queries to be registered), by their keys in ``candidates``.
        Registered queries are not considered.

        Spark may parse a text differently, or refuse an expression. If there are more expressions than a stream may
        have, only the first ones are sent to Spark, up to this number. Accepted expressions are remembered, so a change
        does not wait for Spark under the lock. The call takes a while, so call it without a lock. Raise CancelledError.
        """
        refused: dict[int, AscError] = {}
        for stream in {candidate.query.stream for candidate in candidates.values()}:
            stream_candidates = {i: one for i, one in candidates.items() if one.query.stream == stream}
            analyser = self._analysers[stream]
            keys = list(stream_candidates)
            predicates = [
                (key, each)
                for key in keys
                for each in (stream_candidates[key].predicate, *stream_candidates[key].expressions.all)
            ]
            misread = analyser.misread([each for _, each in predicates], cancellation=cancellation)
            refused.update((predicates[place][0], error) for place, error in misread.items())
            computed = dict.fromkeys(
                a for i, one in stream_candidates.items() if i not in refused for a in one.computed
            )
            by_attribute = analyser.refusals(
                list(computed)[: 2 * self.options.spark_attributes], cancellation=cancellation
            )
            for i, one in stream_candidates.items():
                bad = [by_attribute[a] for a in one.computed if a in by_attribute]
                if bad and i not in refused:
                    refused[i] = bad[0]
        return refused

    def changed(
        self,
        running: Mapping[str, Plan],
        standing: QuerySet,
        candidates: Sequence[ValidatedQuery],
        removes: Collection[str],
        cancellation: Cancellation | None = None,
    ) -> dict[str, Plan]:
        """Return the plans of the streams that a change of the standing queries affects. They have a provisional
        version, because the registry assigns the version when the change is written.

        Errors are as in :meth:`Members.over`, for joins whose layer changed after the validation.
        """
        adds: dict[str, list[Query]] = {}
        drops: dict[str, list[str]] = {}

        def drop(query_id: str, kept: Collection[str] = ()) -> None:
            stream = standing.planned_on(query_id)
            if stream is not None:
                gone = planned_ids(running[stream], standing.get(query_id))
                drops.setdefault(stream, []).extend(plan_id for plan_id in gone if plan_id not in kept)

        for candidate in candidates:
            query = candidate.query
            own = [] if query.paused else candidate.over(standing.shapes, cancellation).planned()
            if own or not query.paused:
                adds.setdefault(query.stream, []).extend(own)
            is_kept = standing.planned_on(query.id) == query.stream
            drop(query.id, {one.id for one in own} if is_kept else ())
        for query_id in removes:
            drop(query_id)
        return {
            name: change_plan(
                running[name],
                adds.get(name, ()),
                drops.get(name, ()),
                standing.version,
                postpones=is_large(running[name]),
            )
            for name in {*adds, *drops}
        }

    def refusals(
        self,
        candidates: Sequence[ValidatedQuery],
        standing: QuerySet,
        plans: Mapping[str, Plan],
        removed: Collection[str] = (),
    ) -> dict[int, AscError]:
        """Return the errors, by index, of the candidates (validated queries to be registered) that cannot be added to
        the standing queries and the running plans. ``removed``: the ids of the queries that the same change removes.

        Such a candidate would close a loop of topics, or share a topic or exceed a limit, or Spark refuses it. Standing
        queries that are not served are counted as well. When the daemon restarts, these older queries are served first
        if capacity is free, and an accepted new query must still be served then.
        """
        attributes = {name: plan.computed for name, plan in plans.items()}
        gone = {*removed, *(candidate.query.id for candidate in candidates)}
        waiting = self._unserved.of(standing)
        for query_id, one in waiting.items():
            if one.computed and query_id not in gone:
                attributes[one.stream] |= one.computed
        operators = StandingOperators(
            plans,
            {query_id: (one.stream, one.destination) for query_id, one in waiting.items() if one.destination},
            frozenset(removed),
            {i for i, one in enumerate(candidates) if one.query.operator is not None and standing.holds(one.query)},
        )
        left = standing.changed((), removed, standing.version) if removed else standing
        return self._refusals(candidates, left, attributes, operators)

    def _refusals(
        self,
        candidates: Sequence[ValidatedQuery],
        standing: QuerySet,
        computed: Mapping[str, set[PAttribute]],
        operators: StandingOperators,
        *,
        patiently: bool = False,
    ) -> dict[int, AscError]:
        refused = over_too_many_shapes(candidates, standing, self._config.limits.stream_join_shapes)
        fitting = [i for i in range(len(candidates)) if i not in refused]
        by_spark = self._by_spark([candidates[i] for i in fitting], computed, patiently=patiently)
        refused.update((fitting[i], error) for i, error in by_spark.items())
        while True:
            # A refused candidate does not replace its query, and with the old query other candidates may exceed a
            # limit, close a loop, or share a topic.
            more = (
                excess_of_operators(self._config, candidates, refused, operators)
                or self._loops(candidates, standing, refused)
                or shared_topics(candidates, standing, refused)
            )
            if not more:
                return refused
            refused.update(more)

    def _by_spark(
        self, candidates: Sequence[ValidatedQuery], computed: Mapping[str, set[PAttribute]], *, patiently: bool
    ) -> dict[int, AscError]:
        """Return the errors, by index, of the candidates (validated queries) that Spark refuses, or with which Spark
        would compute too much.

        ``patiently``: wait for Spark as long as it needs, so that no standing query is excluded for a slow answer.
        """
        refused: dict[int, AscError] = {}
        for stream in {candidate.query.stream for candidate in candidates}:
            stream_candidates = [(i, c) for i, c in enumerate(candidates) if c.query.stream == stream]
            analyser = self._analysers[stream]
            # Ask for as many expressions in one request as could be served. Ask for further ones only if there is
            # capacity.
            first = dict.fromkeys(a for _, c in stream_candidates for a in c.computed)
            asked = list(first)[: 2 * self.options.spark_attributes]
            by_attribute = analyser.refusals(asked, patiently=patiently)
            attributes = set(computed.get(stream, ()))
            work = _Work.of(attributes)
            for position, candidate in stream_candidates:
                needed = set(candidate.computed)
                if not needed:
                    continue
                more = needed - attributes
                together = work + _Work.of(more)
                is_served = not candidate.query.paused and bool(more)
                excess = self._excess(together) if is_served else None
                if excess is not None:
                    refused[position] = _too_much(candidate, *excess)
                    continue
                bad = by_attribute if needed.issubset(asked) else analyser.refusals(needed, patiently=patiently)
                found = [bad[attribute] for attribute in needed if attribute in bad]
                if found:
                    refused[position] = found[0]
                elif is_served:
                    attributes |= more
                    work = together
        return refused

    def _by_stream(self, candidates: Iterable[ValidatedQuery], unserved: Collection[str]) -> dict[str, list[Query]]:
        """Return the plan entries of the validated queries that are served, by stream. ``unserved``: the ids of the
        others.
        """
        served: dict[str, list[Query]] = {}
        for candidate in candidates:
            query = candidate.query
            if query.id not in unserved:
                planned = candidate.planned()
                served.setdefault(query.stream, []).extend(planned)
        return served

    def _excess(self, work: _Work) -> tuple[str, str] | None:
        """Return the bound that a stream's expressions exceed together, as a text, and the name of its limit in the
        configuration. Return None if they exceed no bound.
        """
        limits = self._config.limits
        if work.expressions > limits.spark_attributes:
            return f"{limits.spark_attributes} expressions: reuse one that stands", "spark_attributes"
        if work.nodes > limits.stream_spark_nodes:
            what = f"{limits.stream_spark_nodes} operators and operands: reuse an expression that stands"
            return what, "stream_spark_nodes"
        if work.steps > limits.stream_pattern_steps:
            what = f"{limits.stream_pattern_steps} steps of patterns for each character of a string: reuse a pattern"
            return f"{what} that stands, begin it with ^", "stream_pattern_steps"
        return None

    def _loops(
        self, candidates: Sequence[ValidatedQuery], standing: QuerySet, refused: Collection[int]
    ) -> dict[int, AscError]:
        """Return the errors, by index, of the candidates (validated queries) that would close a loop of streams.
        ``refused``: the indexes of candidates to ignore.
        """
        accepted = [(i, candidate.query) for i, candidate in enumerate(candidates) if i not in refused]
        loops = TopicLoops(self._config, standing.feeds(without=(query.id for _, query in accepted)))
        found = ((position, loops.refusal(query)) for position, query in accepted)
        return {position: refusal for position, refusal in found if refusal is not None}


def is_large(plan: Plan) -> bool:
    """Return whether compiling all queries of the plan again takes so long that no caller should wait for it."""
    return len(plan) >= _LARGE


def _too_much(candidate: ValidatedQuery, what: str, limit: str) -> QueryError:
    query = candidate.query
    remedy = f"stream '{query.stream}' would have Spark compute more than {what}, or raise limits.{limit}"
    return QueryError("predicate", query.where[:200], remedy)
