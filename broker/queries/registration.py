"""Registration: the one place where queries are judged, written to the registry and put into the running plans."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from asc.errors import AscError
from asc.plan.compiler import change_plan
from asc.plan.order import Order
from asc.plan.plan import Plan, Query
from asc.predicate.normal_form import Predicate
from broker.config.config import Config
from broker.kafka.cluster import KafkaCluster, Offsets, check_destination
from broker.queries.planning import Candidate, Planning
from broker.queries.query import QueryError, RegisteredQuery, UnknownQueryError, check_id, check_labels
from broker.queries.registry import Registry, RegistryError, RegistryTakenError
from broker.stream.evaluation_errors import EvaluationErrors
from monitor.transfer import carried

if TYPE_CHECKING:
    from broker.stream.analyser import StreamAnalyser

LOG = logging.getLogger("asc.registration")


class RunningPlan(Protocol):
    """What registration needs of a stream's job."""

    @property
    def plan(self) -> Plan: ...

    def swap(self, plan: Plan) -> Offsets: ...

    def effective_offsets(self) -> Offsets: ...


@dataclass(frozen=True, slots=True)
class Change:
    """What a change of the set of queries came to: the version, and from which offsets it holds, by stream."""

    version: int
    offsets: Mapping[str, Offsets]
    queries: tuple[RegisteredQuery, ...] = ()


class StandingQueries:
    """The set of standing queries and the plans made of it.

    Invariant: between changes, the registry, ``queries`` and the plan of every job say the same; a change that is
    refused leaves all three as they were. Changes are made one after the other, under a lock; reading needs none, for
    the mapping is replaced, never changed. Source: spec, section 2.
    """

    def __init__(
        self,
        config: Config,
        cluster: KafkaCluster,
        registry: Registry,
        analysers: Mapping[str, StreamAnalyser],
    ) -> None:
        self.config = config
        self._cluster = cluster
        self._registry = registry
        self._lock = threading.RLock()
        self._jobs: Mapping[str, RunningPlan] = {}
        self._planning = Planning(config, analysers)
        self._uncertain = False
        self.problem: RegistryError | None = None
        """Why no query can be registered; None where they can."""
        self.queries: Mapping[str, RegisteredQuery] = {}
        self.version = -1
        self.unserved: dict[str, str] = {}
        """Queries of the registry that no plan holds, with the reason: they break a rule of today's configuration."""
        self.evaluation_errors = EvaluationErrors()

    # -- start

    def load(self, now: datetime) -> dict[str, Plan]:
        """Read the registry, remove what has expired; the plan of every stream."""
        queries, self.version = self._registry.load()
        expired = _expired(queries.values(), now)
        if expired:
            self.version = max(self._registry.write((), expired).values())
        self.queries = queries = {key: query for key, query in queries.items() if key not in expired}
        plans, self.unserved = self._planning.plans(queries.values(), self.version)
        for query_id, reason in self.unserved.items():
            LOG.warning("query '%s' is not served: %s", query_id, reason)
        return plans

    def attach(self, jobs: Mapping[str, RunningPlan]) -> None:
        """The jobs that run the plans from now on."""
        self._jobs = jobs

    def plan_at(self, stream: str, version: int) -> Plan:
        """The plan of a stream as it was at a version."""
        # Of all streams: what is served of one may hang on the others, for they may feed each other.
        return self._planning.plans(self._registry.state_at(version).values(), version)[0][stream]

    # -- judging

    def normalise(self, stream: str, where: str) -> Predicate:
        """The normal form of a predicate over a stream's attributes; PredicateError."""
        return self._planning.normalise(stream, where)

    def stream_name(self, name: str | None) -> str:
        """The stream that is meant; QueryError when it is unknown, or left out where there are several."""
        known = ", ".join(sorted(self.config.streams))
        if name is None:
            if len(self.config.streams) != 1:
                raise QueryError("stream", "", f"name one of {known}")
            return next(iter(self.config.streams))
        if name not in self.config.streams:
            raise QueryError("unknown stream", name[:200], f"configured: {known}")
        return name

    def judge(self, query: RegisteredQuery, now: datetime) -> Candidate:
        """A query as a candidate for registration, all but what Spark has to say; AscError when it is refused."""
        check_id(query.id)
        self.stream_name(query.stream)
        check_destination(query.topic, query.stream, self.config)
        check_labels(query.labels)
        if query.expires_at is not None and query.expires_at <= now:
            raise QueryError("expires_at", query.expires_at.isoformat(), "is in the past: choose a later time")
        return Candidate(query, self.normalise(query.stream, query.where))

    def refusals(self, candidates: Sequence[Candidate]) -> dict[int, AscError]:
        """Position to reason of the candidates that would close a loop, that Spark refuses, or that are too many."""
        queries, replaced = self.queries, {candidate.query.id for candidate in candidates}
        unserved = [queries[query_id] for query_id in self.unserved if query_id in queries and query_id not in replaced]
        return self._planning.refusals(candidates, queries.values(), unserved, self.plans())

    # -- changing

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold every other change off, so that what is read and judged meanwhile still holds when it is registered."""
        with self._lock:
            self._recover()
            yield

    def register(self, candidates: Sequence[Candidate]) -> Change:
        """Register candidates in one step, replacing those of the same id. Candidates have passed ``refusals``."""
        with self.changing():
            return self._change(candidates, ())

    def remove(self, ids: Sequence[str]) -> Change:
        """Remove queries in one step; UnknownQueryError when there is no such id."""
        with self.changing():
            for query_id in ids:
                self.get(query_id)
            return self._change((), ids)

    def expire(self, now: datetime) -> list[str]:
        """Remove the queries whose time has come; their ids. To be called often: it also mends a write that failed."""
        with self.changing():
            ids = _expired(self.queries.values(), now)
            if ids:
                self._change((), ids)
        return ids

    def shown(self, query: RegisteredQuery) -> dict[str, Any]:
        """A standing query as the API shows it: whether a plan may hold it, the reason where none can, and the records
        that could not be evaluated.
        """
        reason = self.unserved.get(query.id)
        errors = self.evaluation_errors.of(query.id, query.version)
        return {**query.plain(), "served": reason is None, "reason": reason, "evaluation_errors": errors}

    def get(self, query_id: str) -> RegisteredQuery:
        """A standing query; UnknownQueryError."""
        query = self.queries.get(query_id)
        if query is None:
            raise UnknownQueryError("unknown query", query_id[:250], "'asc query list' shows the registered ones")
        return query

    def plan_of(self, query: RegisteredQuery) -> Plan:
        """The running plan that holds a query; QueryError where none does."""
        if query.paused:
            raise QueryError("query", query.id, "is paused, so no plan holds it: resume it first")
        if query.id in self.unserved:
            raise QueryError("query", query.id, f"is not served: {self.unserved[query.id]}")
        return self._jobs[query.stream].plan

    def plans(self) -> dict[str, Plan]:
        """The running plan of every stream."""
        return {name: job.plan for name, job in sorted(self._jobs.items())}

    def counts(self) -> Counter[str]:
        """The number of registered queries by stream, paused ones included."""
        return Counter(query.stream for query in self.queries.values())

    def arrange(self, stream: str, measured: Plan, orders: Mapping[int, Order]) -> Plan:
        """Put orders that the monitor found for blocks of a plan into the plan that runs by now; that plan.

        Under the lock of changes, so that none is lost to a change of the queries that is under way. A block that has
        changed since it was measured is left as it is.
        """
        with self._lock:
            plan = self._jobs[stream].plan
            arranged = plan.with_orders_of(measured, orders)
            if arranged is not plan:
                self._jobs[stream].swap(arranged)
            return arranged

    def count_failed(self, stream: str, plan: Plan, failed: Mapping[int, int]) -> None:
        """Count the records on which evaluation failed under a plan, by handle, for the queries that still are what
        they were in it.
        """
        if not failed:
            return
        ids = plan.query_ids.take(pa.array(plan.ranks[list(failed)])).to_pylist()
        standing = self.queries
        found = ((standing.get(query_id), count) for query_id, count in zip(ids, failed.values(), strict=True))
        counts = {
            (query.id, query.version): count
            for query, count in found
            if query is not None and query.version <= plan.version
        }
        self.evaluation_errors.add(stream, counts)

    def _change(self, candidates: Sequence[Candidate], removes: Sequence[str]) -> Change:
        plans = self._changed_plans(candidates, removes)
        # One that is paused needs no topic: to pause it may be what mends a stream.
        topics = {candidate.query.topic for candidate in candidates if not candidate.query.paused}
        self._cluster.ensure_destinations(topics)
        try:
            offsets = self._registry.write([candidate.query for candidate in candidates], removes)
        except RegistryError as error:
            self._uncertain = not isinstance(error, RegistryTakenError)
            self.problem = error
            raise
        version = max(offsets.values())
        written = tuple(candidate.query.at(offsets[candidate.query.id]) for candidate in candidates)
        queries = dict(self.queries)
        for query_id in removes:
            del queries[query_id]
        queries.update((query.id, query) for query in written)
        self.queries, self.version = queries, version
        for query_id in offsets:
            self.unserved.pop(query_id, None)
        self.evaluation_errors.forget(removes)
        effective = {stream: self._jobs[stream].swap(replace(plan, version=version)) for stream, plan in plans.items()}
        for query in written:
            if query.stream not in effective:
                effective[query.stream] = self._jobs[query.stream].effective_offsets()
        return Change(version, effective, written)

    def _recover(self) -> None:
        """After a write that failed: become the writer anew, and learn what the registry really holds."""
        if not self._uncertain:
            return
        self._registry.close()
        self._registry.open()
        queries, version = self._registry.load()
        if queries != self.queries:
            LOG.warning("the registry holds a change that was thought to have failed: version %d is in place", version)
            plans, unserved = self._planning.plans(queries.values(), version)
            for stream, plan in plans.items():
                self._jobs[stream].swap(carried(self._jobs[stream].plan, plan))
            self.queries, self.version, self.unserved = queries, version, unserved
        self._uncertain = False
        self.problem = None

    def _changed_plans(self, candidates: Sequence[Candidate], removes: Sequence[str]) -> dict[str, Plan]:
        """The plans of the streams that a change touches, with a version that is yet to be set."""
        adds: dict[str, list[Query]] = {}
        drops: dict[str, list[str]] = {}
        for candidate in candidates:
            query = candidate.query
            replaced = not query.paused
            if replaced:
                adds.setdefault(query.stream, []).append(Query(query.id, candidate.predicate, query.topic))
            before = self._planned_on(query.id)
            if before is not None and not (replaced and before == query.stream):
                drops.setdefault(before, []).append(query.id)
        for query_id in removes:
            before = self._planned_on(query_id)
            if before is not None:
                drops.setdefault(before, []).append(query_id)
        plans = {}
        for stream in {*adds, *drops}:
            standing = self._jobs[stream].plan
            changed = change_plan(standing, adds.get(stream, ()), drops.get(stream, ()), version=self.version)
            plans[stream] = carried(standing, changed)
        return plans

    def _planned_on(self, query_id: str) -> str | None:
        query = self.queries.get(query_id)
        if query is None or query.paused or query_id in self.unserved:
            return None
        return query.stream


def _expired(queries: Iterable[RegisteredQuery], now: datetime) -> list[str]:
    return [query.id for query in queries if query.expires_at is not None and query.expires_at <= now]
