"""The standing queries that no plan serves: what they would need if a plan served them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from asc.errors import AscError
from asc.keys.attribute import PAttribute
from asc.plan.destination import Destination
from asc.spatial.layer import Layer
from broker.config.config import Config
from broker.queries.operator_limits import check_alone
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.validated_query import ValidatedQuery
from broker.stream.analyser import StreamAnalyser


@dataclass(frozen=True, slots=True)
class UnservedQuery:
    """A standing query that is not served: its version, stream, the expressions that Spark would compute, and the
    destination that its operator would have in a plan. A query that a limit refuses even without other queries has no
    expressions and no destination here.
    """

    version: int
    stream: str
    computed: frozenset[PAttribute] = frozenset()
    destination: Destination | None = None


class UnservedQueries:
    """The unserved queries of a set. The result for each query is cached until the query changes."""

    def __init__(self, config: Config, analysers: Mapping[str, StreamAnalyser]) -> None:
        self._config = config
        self._analysers = analysers
        self._unserved: Mapping[str, str] | None = None
        self._by_id: Mapping[str, UnservedQuery] = {}

    def of(self, standing: QuerySet) -> Mapping[str, UnservedQuery]:
        """Return the unserved queries of a set by id."""
        if self._unserved is not standing.unserved:
            known, found = self._by_id, dict[str, UnservedQuery]()
            for query_id in standing.unserved:
                query, before = standing.get(query_id), known.get(query_id)
                is_same = before is not None and before.version == query.version
                found[query_id] = before if before is not None and is_same else self._needs(query, standing.shapes)
            self._unserved, self._by_id = standing.unserved, found
        return self._by_id

    def _needs(self, query: RegisteredQuery, shapes: Mapping[str, Layer]) -> UnservedQuery:
        limits = self._config.limits
        if query.stream in self._analysers and not query.paused:
            with suppress(AscError):
                # A query that exceeds a limit alone can be served beside no other, so it must not use up the capacity
                # for others.
                check_alone(limits, [] if query.operator is None else [query.operator])
                analyser = self._analysers[query.stream]
                alone = ValidatedQuery.of(query, analyser, shapes, computed_max=limits.spark_attributes)
                own = alone.destination
                destination = None if own is None else own.in_plan()
                return UnservedQuery(query.version, query.stream, frozenset(alone.computed), destination)
        return UnservedQuery(query.version, query.stream)
