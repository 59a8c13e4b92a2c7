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

from asc.attribute import PAttribute
from asc.compiler import change_plan, compile_plan
from asc.errors import AscError
from asc.plan import CompileOptions, Plan, Query
from asc.predicate import Limits, normalise
from asc.predicate.normal_form import Predicate
from asc.schema import Schema
from broker.config import Config
from broker.evaluation_errors import EvaluationErrors
from broker.query import QueryError, RegisteredQuery, UnknownQueryError, check_id, check_labels
from broker.registry import Registry, RegistryError, RegistryTakenError
from broker.topics import KafkaCluster, Offsets, check_destination
from monitor.transfer import carried

if TYPE_CHECKING:
    from broker.analysis import StreamAnalyser
    from broker.arrangement import Order

LOG = logging.getLogger("asc.registration")


class RunningPlan(Protocol):
    """What registration needs of a stream's job."""

    @property
    def plan(self) -> Plan: ...

    def swap(self, plan: Plan) -> Offsets: ...

    def effective_offsets(self) -> Offsets: ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A query that was judged and may be registered."""

    query: RegisteredQuery
    predicate: Predicate


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
        self._analysers = analysers
        self._lock = threading.RLock()
        self._jobs: Mapping[str, RunningPlan] = {}
        self.schemas: dict[str, Schema] = {name: stream.attributes() for name, stream in config.streams.items()}
        limits = config.limits
        self._limits = Limits(
            length_chars=limits.length_chars, nesting_depth=limits.nesting_depth, conjuncts=limits.conjuncts
        )
        self._options = CompileOptions(spark_attributes=limits.spark_attributes)
        self._uncertain = False
        self.queries: Mapping[str, RegisteredQuery] = {}
        self.version = -1
        self.unserved: dict[str, str] = {}
        """Queries of the registry that no plan holds, with the reason: their stream or an attribute is gone."""
        self.evaluation_errors = EvaluationErrors()

    # -- start

    def load(self, now: datetime) -> dict[str, Plan]:
        """Read the registry, remove what has expired; the plan of every stream."""
        queries, self.version = self._registry.load()
        expired = _expired(queries.values(), now)
        if expired:
            self.version = max(self._registry.write((), expired).values())
        self.queries = queries = {key: query for key, query in queries.items() if key not in expired}
        plans = self._plans(queries.values(), self.version, self.unserved)
        for query_id, reason in self.unserved.items():
            LOG.warning("query '%s' is not served: %s", query_id, reason)
        return plans

    def attach(self, jobs: Mapping[str, RunningPlan]) -> None:
        """The jobs that run the plans from now on."""
        self._jobs = jobs

    def plan_at(self, stream: str, version: int) -> Plan:
        """The plan of a stream as it was at a version."""
        state = [query for query in self._registry.state_at(version).values() if query.stream == stream]
        return self._plans(state, version, {})[stream]

    def _plans(self, queries: Iterable[RegisteredQuery], version: int, unserved: dict[str, str]) -> dict[str, Plan]:
        by_stream: dict[str, list[Query]] = {name: [] for name in self.config.streams}
        for query in queries:
            if query.stream not in by_stream:
                unserved[query.id] = f"stream '{query.stream}' is not configured"
            elif not query.paused:
                try:
                    predicate = self.normalise(query.stream, query.where)
                except AscError as error:
                    unserved[query.id] = str(error)
                else:
                    by_stream[query.stream].append(Query(query.id, predicate, query.topic))
        return {
            name: compile_plan(self._analysed(name, found, unserved), self._options, version)
            for name, found in by_stream.items()
        }

    def _analysed(self, stream: str, queries: list[Query], unserved: dict[str, str]) -> list[Query]:
        # What Spark took once it may refuse now: the schema of the stream, or Spark itself, is another one.
        refused = self._analysers[stream].refusals(a for query in queries for a in query.predicate.p_attributes)
        for query in queries if refused else ():
            reasons = [str(refused[a]) for a in query.predicate.p_attributes if a in refused]
            if reasons:
                unserved[query.id] = reasons[0]
        return [query for query in queries if query.id not in unserved]

    # -- judging

    def normalise(self, stream: str, where: str) -> Predicate:
        """The normal form of a predicate over a stream's attributes; PredicateError."""
        return normalise(where, self.schemas[stream], limits=self._limits, time_zone=self.config.spark.time_zone)

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
        """Position to reason of the candidates that Spark refuses, or that would have it compute too much."""
        refused: dict[int, AscError] = self._loops(candidates)
        for stream in {candidate.query.stream for candidate in candidates}:
            own = [(i, c) for i, c in enumerate(candidates) if c.query.stream == stream and i not in refused]
            wanted = [a for _, candidate in own for a in candidate.predicate.p_attributes]
            by_attribute = self._analysers[stream].refusals(wanted)
            standing = _spark_attributes(self._jobs[stream].plan.p_attributes)
            for position, candidate in own:
                needed = _spark_attributes(candidate.predicate.p_attributes)
                bad = [by_attribute[attribute] for attribute in needed if attribute in by_attribute]
                if bad:
                    refused[position] = bad[0]
                elif candidate.query.paused or needed <= standing:
                    continue
                elif len(standing | needed) > self.config.limits.spark_attributes:
                    refused[position] = self._too_many(stream, candidate)
                else:
                    standing |= needed
        return refused

    def _loops(self, candidates: Sequence[Candidate]) -> dict[int, AscError]:
        """The candidates that would close a loop of streams, each feeding the next one's source."""
        sources = {stream.topic for stream in self.config.streams.values()}
        replaced = {candidate.query.id for candidate in candidates}
        feeds: dict[str, set[str]] = {}
        for query in self.queries.values():
            if query.id not in replaced and query.topic in sources and query.stream in self.config.streams:
                feeds.setdefault(self.config.streams[query.stream].topic, set()).add(query.topic)
        refused: dict[int, AscError] = {}
        for position, candidate in enumerate(candidates):
            source, topic = self.config.streams[candidate.query.stream].topic, candidate.query.topic
            if topic not in sources:
                continue
            if source in _reached(topic, feeds):
                remedy = f"leads back to the source '{source}' of the query's own stream: choose another"
                refused[position] = QueryError("destination topic", topic, remedy)
            else:
                feeds.setdefault(source, set()).add(topic)
        return refused

    def _too_many(self, stream: str, candidate: Candidate) -> QueryError:
        limit = self.config.limits.spark_attributes
        return QueryError(
            "predicate",
            candidate.query.where[:200],
            f"stream '{stream}' would have Spark compute more than {limit} expressions: reuse one that stands, "
            "or raise limits.spark_attributes",
        )

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
        errors = self.evaluation_errors.of(query.id)
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
            arranged = plan.with_sequences_of(measured, orders)
            if arranged is not plan:
                self._jobs[stream].swap(arranged)
            return arranged

    def _change(self, candidates: Sequence[Candidate], removes: Sequence[str]) -> Change:
        plans = self._changed_plans(candidates, removes)
        self._cluster.ensure_topics({candidate.query.topic for candidate in candidates})
        try:
            offsets = self._registry.write([candidate.query for candidate in candidates], removes)
        except RegistryTakenError:
            raise
        except RegistryError:
            self._uncertain = True
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
        self.evaluation_errors.forget(offsets)
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
            unserved: dict[str, str] = {}
            for stream, plan in self._plans(queries.values(), version, unserved).items():
                self._jobs[stream].swap(carried(self._jobs[stream].plan, plan))
            self.queries, self.version, self.unserved = queries, version, unserved
        self._uncertain = False

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


def _reached(topic: str, feeds: Mapping[str, set[str]]) -> set[str]:
    """The topics that records of a topic can reach, itself included."""
    reached: set[str] = set()
    ahead = [topic]
    while ahead:
        at = ahead.pop()
        if at not in reached:
            reached.add(at)
            ahead.extend(feeds.get(at, ()))
    return reached


def _spark_attributes(attributes: Iterable[PAttribute]) -> set[PAttribute]:
    return {attribute for attribute in attributes if attribute.path is None}
