"""Registration: the one place where queries are judged, written to the registry and put into the running plans."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone

from asc.errors import AscError
from asc.plan.compiler import change_plan, is_renewal_due, renewed
from asc.plan.plan import Plan, Query
from broker.config.config import Config
from broker.errors import QueryError, RegistryError, RegistryTakenError, StandingQueryError
from broker.kafka.cluster import KafkaCluster
from broker.queries.change import Alter, Became, Change, Outcome, Put, Registered, Remove
from broker.queries.planning import Candidate, is_large
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.registry import Registry
from broker.queries.rules import check_destination, check_id, check_labels
from broker.queries.standing import StandingQueries
from broker.stream.stream import Stream
from monitor.transfer import with_orders_from

LOG = logging.getLogger("asc.registration")

_TOLD = 20_000
"""Changes at once that take seconds."""

_CAUGHT_UP = 1_000
"""Changes that are put into a plan under the lock, at most."""

_RENEWAL_PAUSE_S = 30.0
"""Between two times that a stream's plan is compiled anew beside it."""


class Registrar:
    """Changes the standing queries: judges, locks, refuses, writes and swaps, in :meth:`apply`.

    Invariant: between changes, the registry, ``standing`` and the running plan of every stream say the same; a change
    that is refused leaves all three as they were. Changes are made one after the other, under a lock; reading needs
    none, for the set is replaced, never changed. Source: spec, section 2.
    """

    def __init__(
        self,
        config: Config,
        cluster: KafkaCluster,
        registry: Registry,
        streams: Mapping[str, Stream],
        set_aside: Collection[str] = (),
    ) -> None:
        self._config = config
        self._cluster = cluster
        self._registry = registry
        self._streams = streams
        self._stands = StandingQueries(config, cluster, registry, streams, set_aside)
        self._planning = self._stands.planning
        self._lock = threading.RLock()
        self._not_renewed_before_s: dict[str, float] = {}
        self._is_uncertain = False
        self.problem: RegistryError | None = None
        """Why no query can be registered; None where they can."""

    def load(self) -> None:
        """At the start: read the registry, remove what has expired, put the rest into the running plans, and the plan
        of an earlier version where a batch is to be run again with it.
        """
        self._stands.load()

    @property
    def standing(self) -> QuerySet:
        """What stands."""
        return self._stands.now

    def renew(self) -> None:
        """Compile plans anew of which much has changed, beside the streams. To be called often, by one thread.

        What changes meanwhile is put into the new plan before it takes its place: what is much of it without the lock.
        """
        for name, stream in self._streams.items():
            with self._lock:
                then, plan, is_uncertain = self.standing, stream.running.plan, self._is_uncertain
            begun = time.monotonic()
            is_pausing = begun < self._not_renewed_before_s.get(name, begun)
            if is_uncertain or is_pausing or not (is_large(plan) and is_renewal_due(plan)):
                continue
            self._not_renewed_before_s[name] = begun + _RENEWAL_PAUSE_S
            fresh = renewed(plan)
            self._not_renewed_before_s[name] += 4 * (time.monotonic() - begun)
            now = self.standing
            while len(now.queries.differences(then.queries)) > _CAUGHT_UP:
                fresh, then = self._planning.caught_up(name, fresh, then, now), now
                now = self.standing
            with self._lock:
                if not self._is_uncertain:
                    fresh = self._planning.caught_up(name, fresh, then, self.standing)
                    stream.running.replace(with_orders_from(stream.running.plan, fresh))
                    LOG.info("stream '%s': %d queries compiled anew, after %d changes", name, len(fresh), plan.changes)

    def store(self) -> None:
        """Write a snapshot where one is due, for the next start. To be called often, by one thread. Raises OSError."""
        with self._lock:
            if self._is_uncertain:
                return
            current = self.standing, self._stands.plans()
        self._stands.store(current)

    def park(self) -> None:
        """Park the queries that streams found they cannot go on with, and let those streams go on. To be called often.

        A parked query stands in the registry as it was, and is not served, with the reason, until it is registered
        anew. Raises KafkaError where the registry cannot be read.
        """
        if not self._stands.is_parking_due:
            return
        with self._lock:
            self._recover()
            self._stands.park()
        self._stands.let_go_on()

    def stream_of(self, name: str | None) -> Stream:
        """The stream that is meant; QueryError when it is unknown, or left out where there are several."""
        known = ", ".join(sorted(self._streams))
        if name is None:
            if len(self._streams) != 1:
                raise QueryError("stream", "", f"name one of {known}")
            return next(iter(self._streams.values()))
        if name not in self._streams:
            raise QueryError("unknown stream", name[:200], f"configured: {known}")
        return self._streams[name]

    def plan_of(self, query: RegisteredQuery) -> Plan:
        """The running plan that holds a query; QueryError where none does."""
        if query.paused:
            raise QueryError("query", query.id, "is paused, so no plan holds it: resume it first")
        reason = self.standing.unserved.get(query.id)
        if reason is not None:
            raise QueryError("query", query.id, f"is not served: {reason}")
        return self._streams[query.stream].running.plan

    def apply(self, changes: Sequence[Change | AscError], *, keep_going: bool = False) -> Outcome:
        """Make changes in one step: all of them, or none where one is refused (``keep_going``: those that are not).

        An error among them stands for a change that could not be read: it is refused with that. Returns when the
        queries are in the running plans, those removed in none. Raises KafkaError, RegistryError among them, where
        Kafka fails, and PlanError where the queries together pass a bound of plans: nothing is changed then, as far as
        can be known (see :meth:`expire`).
        """
        while True:
            standing = self.standing
            candidates, refused = self._judged(changes, standing)
            _tell("judged", len(changes))
            with self._lock:
                self._recover()
                # What was altered meanwhile is altered anew: nothing that another change did is undone.
                altered = (change.query_id for change in changes if isinstance(change, Alter))
                if all(self.standing.queries.get(name) is standing.queries.get(name) for name in altered):
                    return self._decided(changes, candidates, refused, keep_going=keep_going)

    def _decided(
        self,
        changes: Sequence[Change | AscError],
        candidates: dict[int, Candidate],
        refused: dict[int, AscError],
        *,
        keep_going: bool,
    ) -> Outcome:
        """Make changes that were judged, under the lock."""
        removes: dict[int, RegisteredQuery] = {}
        taken: set[str] = set()
        for position, change in enumerate(changes):
            if isinstance(change, AscError) or position in refused:
                continue
            with _refusing(refused, position):
                if change.query_id in taken:
                    raise QueryError("duplicate id", change.query_id[:250], "is changed twice: keep one of them")
                if not isinstance(change, Remove) and not change.replaces and change.query_id in self.standing:
                    remedy = "stands already and is not to be replaced (--no-replace, If-None-Match): take another id"
                    raise StandingQueryError("query", change.query_id, remedy)
                if isinstance(change, Remove):
                    removes[position] = self.standing.get(change.query_id)
                taken.add(change.query_id)
        missing_topics = self._refuse(candidates, refused) if candidates else set()
        candidates = {position: one for position, one in candidates.items() if position not in refused}
        if (refused and not keep_going) or not (candidates or removes):
            return Outcome(refused=refused)
        return self._made(candidates, removes, refused, missing_topics)

    def expire(self) -> list[str]:
        """Remove the queries whose time has come; their ids. To be called often: it also mends a write that failed."""
        with self._lock:
            self._recover()
            ids = self.standing.expired(_now())
            if ids:
                self.apply([Remove(query_id) for query_id in ids])
        return ids

    # -- judging

    def _judged(
        self, changes: Sequence[Change | AscError], standing: QuerySet
    ) -> tuple[dict[int, Candidate], dict[int, AscError]]:
        """The candidates among changes, and what is refused, by position: all but what hangs on other queries.

        Spark is asked here, which takes a while: no lock is held, and other changes go on.
        """
        refused: dict[int, AscError] = {i: change for i, change in enumerate(changes) if isinstance(change, AscError)}
        candidates: dict[int, Candidate] = {}
        for position, change in enumerate(changes):
            with _refusing(refused, position):
                if isinstance(change, Put):
                    candidates[position] = self._candidate(change.query)
                elif isinstance(change, Alter):
                    candidates[position] = self._candidate(change.altered(standing.queries.get(change.query_id)))
        refused.update(self._planning.asked({i: one for i, one in candidates.items() if not standing.holds(one.query)}))
        return {i: one for i, one in candidates.items() if i not in refused}, refused

    def _candidate(self, query: RegisteredQuery) -> Candidate:
        """A query as a candidate, all but what hangs on the others and on Spark; AscError where it is refused."""
        check_id(query.id)
        stream = self.stream_of(query.stream)
        check_destination(query.topic, stream.name, self._config)
        check_labels(query.labels)
        if query.expires_at is not None and query.expires_at <= _now():
            raise QueryError("expires_at", query.expires_at.isoformat(), "is in the past: choose a later time")
        return Candidate(query, stream.analyser.normalise(query.where))

    def _refuse(self, candidates: Mapping[int, Candidate], refused: dict[int, AscError]) -> set[str]:
        """Add to the refused what hangs on the others, on Spark and on Kafka: candidates that would close a loop, that
        Spark refuses, that are too many, or whose topic cannot be what they want of it. The topics yet to be made.
        """
        self._refuse_by_rules(candidates, refused)
        # One that is paused needs no topic: to pause it may be what mends a stream.
        topics = {i: one.query.topic for i, one in candidates.items() if i not in refused and not one.query.paused}
        by_topic, missing = self._cluster.destinations(set(topics.values()))
        refused.update((i, by_topic[topic]) for i, topic in topics.items() if topic in by_topic)
        if by_topic:
            # What they would have replaced stands on, and others may break a rule beside it.
            self._refuse_by_rules(candidates, refused)
        return missing

    def _refuse_by_rules(self, candidates: Mapping[int, Candidate], refused: dict[int, AscError]) -> None:
        standing = self.standing
        own = {position: candidate for position, candidate in candidates.items() if position not in refused}
        plans = self._stands.plans()
        positions = list(own)
        found = self._planning.refusals(list(own.values()), standing, plans)
        refused.update((positions[i], error) for i, error in found.items())

    # -- changing

    def _made(
        self,
        candidates: Mapping[int, Candidate],
        removes: Mapping[int, RegisteredQuery],
        refused: Mapping[int, AscError],
        missing_topics: Collection[str],
    ) -> Outcome:
        """Write and swap: what is refused has been refused before, and what stands just so is left as it is."""
        before, gone = self.standing, [query.id for query in removes.values()]
        stands = {i: before.get(one.query.id) for i, one in candidates.items() if before.holds(one.query)}
        predicates = {i: one.predicate for i, one in candidates.items()}
        candidates = {i: one for i, one in candidates.items() if i not in stands}
        running = self._stands.plans()
        plans = self._changed_plans(running, list(candidates.values()), gone)
        self._cluster.create_topics(missing_topics)
        changed = [candidate.query for candidate in candidates.values()]
        _tell("compiled", len(changed))
        versions = self._written(changed, gone) if changed or gone else {}
        _tell("written to the registry", len(changed))
        try:
            version = max(versions.values(), default=before.version)
            written = {i: candidate.query.at(versions[candidate.query.id]) for i, candidate in candidates.items()}
            after = before.changed(written.values(), gone, version)
            for stream in self._streams.values():
                stream.evaluation_errors.stand(after.queries, gone)
            offsets = {
                name: self._streams[name].running.replace(replace(plan, version=version), running[name])
                for name, plan in plans.items()
            }
            self._stands.now = after
        except BaseException:
            # The registry has the change: what has not is mended from there, before the next one.
            self._is_uncertain = True
            raise
        made = {**written, **stands}
        for name in {query.stream for query in made.values()} - offsets.keys():
            offsets[name] = self._streams[name].running.effective_offsets()

        def became(position: int) -> Became:
            if position in stands:
                return "unchanged"
            return "replaced" if made[position].id in before else "registered"

        registered = {
            i: Registered(made[i], offsets[made[i].stream], predicates[i].warnings, became(i)) for i in sorted(made)
        }
        return Outcome(version, registered, removes, refused, offsets)

    def _written(self, queries: Sequence[RegisteredQuery], removes: Collection[str]) -> dict[str, int]:
        """Write a change to the registry; the version of each id in it."""
        try:
            return self._registry.write(queries, removes)
        except RegistryError as error:
            self._is_uncertain = not isinstance(error, RegistryTakenError)
            self.problem = error
            raise

    def _recover(self) -> None:
        """After a write that failed: become the writer anew, and learn what the registry really holds."""
        if not self._is_uncertain:
            return
        self._registry.close()
        self._registry.open()
        self._stands.relearn()
        self._is_uncertain = False
        self.problem = None

    def _changed_plans(
        self, running: Mapping[str, Plan], candidates: Sequence[Candidate], removes: Collection[str]
    ) -> dict[str, Plan]:
        """The plans of the streams that a change touches, with a version that is yet to be set."""
        adds: dict[str, list[Query]] = {}
        drops: dict[str, list[str]] = {}
        for candidate in candidates:
            query = candidate.query
            if not query.paused:
                adds.setdefault(query.stream, []).append(Query(query.id, candidate.predicate, query.topic))
            before = self.standing.planned_on(query.id)
            if before is not None and (query.paused or before != query.stream):
                drops.setdefault(before, []).append(query.id)
        for query_id in removes:
            before = self.standing.planned_on(query_id)
            if before is not None:
                drops.setdefault(before, []).append(query_id)
        version = self.standing.version
        return {
            name: change_plan(
                running[name], adds.get(name, ()), drops.get(name, ()), version, postpones=is_large(running[name])
            )
            for name in {*adds, *drops}
        }


def _tell(done: str, count: int) -> None:
    """A line of the log for a load that takes long."""
    if count >= _TOLD:
        LOG.info("bulk load: %d queries are %s", count, done)


@contextmanager
def _refusing(refused: dict[int, AscError], position: int) -> Iterator[None]:
    try:
        yield
    except AscError as error:
        refused[position] = error


def _now() -> datetime:
    return datetime.now(timezone.utc)
