"""Registration: the only module that validates queries, writes the registry and changes running plans."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone

from asc.errors import AscError
from asc.plan.compiler import is_renewal_due, renewed
from asc.plan.plan import Plan
from asc.spatial.feature import Feature
from broker.access.scope import Scope, unlimited
from broker.cancellation import Cancellation
from broker.config.config import Config
from broker.config.layer_config import LayerConfig
from broker.config.sections import LimitsConfig
from broker.errors import (
    ForbiddenError,
    KafkaError,
    QueryError,
    RegistryError,
    RegistryTakenError,
    StandingQueryError,
    TopicError,
)
from broker.kafka.cluster import KafkaCluster
from broker.kafka.retention import COMPACTED
from broker.layers.layers import News, check_layer
from broker.layers.mark import LayerMark
from broker.operators.feed_topic import make_feed
from broker.plans.offsets import Offsets
from broker.queries.change import Became, Change, Outcome, Registered, Remove
from broker.queries.expansion import change_count
from broker.queries.group_commit import GroupCommit, PendingChange, companions, joined, part, unrefused
from broker.queries.kept_states import changes_states, keep_states, with_since
from broker.queries.load_progress import LoadProgress, RunningLoads
from broker.queries.planning import is_large
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet, unknown_query
from broker.queries.query_state import QueryState
from broker.queries.registry import Registry
from broker.queries.validated_query import ValidatedQuery
from broker.queries.validation import Validator, fed_streams, keyed_topics, refusing
from broker.stream.stream import Stream
from monitor.transfer import with_orders_from

LOG = logging.getLogger("asc.registration")

DAEMON = unlimited("daemon")
"""The scope of the daemon's own changes."""

_CAUGHT_UP = 1_000
"""The largest number of changes that are put into a plan that was compiled anew (:meth:`Registrar.renew`) while the
lock of changes is held.
"""

_CLOSE_S = 2.0

_RENEWAL_PAUSE_S = 30.0
"""The minimal pause in seconds between two renewals (new compilations) of a stream's plan."""


class Registrar:
    """The only writer of the standing queries. :meth:`apply` validates changes, takes the lock, refuses conflicts,
    writes the registry and swaps the plans.

    Invariant: between changes, the registry, ``standing`` and the running plan of every stream agree. A refused change
    leaves all three unchanged. Changes are applied one after the other, under a lock. Readers need no lock, because the
    set is replaced and never mutated.
    """

    def __init__(
        self,
        config: Config,
        cluster: KafkaCluster,
        registry: Registry,
        streams: Mapping[str, Stream],
        set_aside: Collection[str] = (),
        *,
        stopping: Cancellation | None = None,
    ) -> None:
        """Create the registrar. ``stopping`` is cancelled when the daemon stops, which cancels all work in progress."""
        self._stopping = stopping or Cancellation()
        self._config = config
        self._cluster = cluster
        self._registry = registry
        self._streams = streams
        self._query_state = QueryState(config, cluster, registry, streams, set_aside)
        self._planning = self._query_state.planning
        self._validator = Validator(config, cluster, streams, self._query_state)
        self._lock = threading.RLock()
        self._group_commit = GroupCommit()
        self._following = threading.Lock()
        """The lock that a thread holds while it reads new records of the layers' topics."""

        self._not_renewed_before_s: dict[str, float] = {}
        self._is_uncertain = False
        self.problem: RegistryError | None = None
        """The reason why no query can be registered; None if queries can be registered."""
        self.loads = RunningLoads()

    def load(self) -> None:
        """Read the registry at the start, remove expired queries, and put the other queries into the running plans.

        If a batch is to be replayed with the plan of an earlier version, compile that plan too.
        """
        self._query_state.load()

    @property
    def standing(self) -> QuerySet:
        """Return the standing queries."""
        return self._query_state.now

    def renew(self) -> None:
        """Replace large plans that many changes have fragmented by plans that are compiled from all queries, while the
        streams run. One thread of the daemon calls this often.

        Changes that arrive meanwhile are put into the new plan before it replaces the running one. Most of them are put
        in without the lock.
        """
        for name, stream in self._streams.items():
            with self._lock:
                then, plan, is_uncertain = self.standing, stream.running.plan, self._is_uncertain
            started = time.monotonic()
            is_pausing = started < self._not_renewed_before_s.get(name, started)
            if is_uncertain or is_pausing or not (is_large(plan) and is_renewal_due(plan)):
                continue
            self._not_renewed_before_s[name] = started + _RENEWAL_PAUSE_S
            fresh = renewed(plan)
            self._not_renewed_before_s[name] += 4 * (time.monotonic() - started)
            now = self.standing
            while change_count(then, now) > _CAUGHT_UP:
                fresh, then = self._planning.caught_up(name, fresh, then, now), now
                now = self.standing
            with self._lock:
                if not self._is_uncertain:
                    fresh = self._planning.caught_up(name, fresh, then, self.standing)
                    stream.running.replace(with_orders_from(stream.running.plan, fresh))
                    LOG.info("stream '%s': %d queries compiled anew, after %d changes", name, len(fresh), plan.changes)

    def follow_layers(self, until: Mapping[str, Offsets] | None = None) -> dict[str, Offsets]:
        """Put new records of the layers' topics into the plans, and return the effective offsets by stream.

        The daemon calls this often. If there are no new records, the call costs a request to Kafka, and returns an
        empty mapping. ``until``: offsets of layers up to which the call waits. If records arrive without end, the call
        processes them in parts, so that no part takes long or blocks other writers. Raise KafkaError, including
        RegistryError; the next call then reads the same records again.
        """
        offsets: dict[str, Offsets] = {}
        while True:
            with self._following:
                news = self._query_state.news_of_layers(until)
                if news:
                    offsets = self._take_layers(news) or offsets
            marks = {name: layer.mark for name, layer in self.standing.layers.items()}
            if until is not None and all(marks[name].reaches(written) for name, written in until.items()):
                return offsets
            if until is None and not any(one.has_more for one in news.values()):
                return offsets

    def _take_layers(self, news: Mapping[str, News]) -> dict[str, Offsets]:
        """Put changes of layers into the plans, and return the effective offsets by stream.

        Return an empty mapping, and change nothing, if the changes were read from another state of the layers than the
        current one.
        """
        made = self._query_state.made_members(news, self._stopping)
        with self._lock:
            self._recover()
            if any(self.standing.layers.get(name) is not one.before for name, one in news.items()):
                return {}
            version = max(self._written((), (), {name: one.after.mark for name, one in news.items()}).values())
            try:
                return self._query_state.take_layers(news, version, made)
            except BaseException:
                # The registry already contains the marks. The next change first restores the state from the registry.
                self._is_uncertain = True
                raise

    @property
    def limits(self) -> LimitsConfig:
        """Return the configured limits."""
        return self._config.limits

    @property
    def layers(self) -> Mapping[str, LayerConfig]:
        """Return the configured layers by name."""
        return self._query_state.layers.configured

    def check_growth(self, layer: str, rows: Mapping[str, Feature], cancellation: Cancellation) -> None:
        """Raise QueryError for rows of a layer whose computation would delay the changes of all layers: see
        :func:`broker.queries.expansion.check_growth`.
        """
        self._planning.check_growth(self.standing, layer, rows, cancellation)

    def write_layer(self, name: str, puts: Mapping[str, bytes], removes: Collection[str]) -> dict[str, Offsets]:
        """Write and remove rows of a layer, update the plans, and return the effective offsets by stream.

        ``puts``: GeoJSON features by id. Raise QueryError if the layer is not configured. Raise KafkaError.
        """
        layers = self._query_state.layers
        check_layer(name, layers.configured)
        written = layers.write(name, puts, removes)
        found = self.follow_layers({name: written})
        # The thread that follows the layers may have taken the change before this one.
        return found or {name: stream.running.effective_offsets() for name, stream in self._streams.items()}

    def close(self) -> None:
        """Stop following the layers.

        If another thread still follows them after a short wait, leave that thread alone.
        """
        if self._following.acquire(timeout=_CLOSE_S):
            try:
                self._query_state.close()
            finally:
                self._following.release()

    def tidy_states(self) -> None:
        """Delete states of removed queries that could not be deleted when the queries were removed. The daemon calls
        this often.
        """
        for stream in self._streams.values():
            stream.tidy_states()

    def store(self) -> None:
        """Write a snapshot for the next start, if it is due. To be called often, by one thread. Raise OSError."""
        with self._lock:
            if self._is_uncertain:
                return
            current = self.standing, self._query_state.plans()
        self._query_state.store(current)

    def park(self) -> None:
        """Park the queries that the findings of streams concern (causes of failing batches), and let those streams go
        on. The daemon calls this often.

        A parked query remains in the registry. It is not served, with the reason, until it is registered anew. Raise
        KafkaError if the registry cannot be read.
        """
        if not self._query_state.is_parking_due:
            return
        with self._lock:
            self._recover()
            self._query_state.park()
        self._query_state.let_go_on()

    def stream_of(self, name: str | None, scope: Scope = DAEMON) -> Stream:
        """Return the stream with a name: see :meth:`Validator.stream_of`."""
        return self._validator.stream_of(name, scope)

    def plan_of(self, query: RegisteredQuery) -> Plan:
        """Return the running plan that serves a query. Raise QueryError if no plan serves it."""
        if query.paused:
            raise QueryError("query", query.id, "is paused, so no plan holds it: resume it first")
        reason = self.standing.unserved.get(query.id)
        if reason is not None:
            raise QueryError("query", query.id, f"is not served: {reason}")
        return self._streams[query.stream].running.plan

    def apply(
        self,
        changes: Sequence[Change | AscError],
        *,
        keep_going: bool = False,
        scope: Scope = DAEMON,
        cancellation: Cancellation | None = None,
    ) -> Outcome:
        """Apply changes in one step: all of them, or none if one is refused (``keep_going``: all that are not refused).

        A change outside the caller's ``scope`` is refused. A standing query outside the scope counts as missing, but
        its id is taken. An error among the changes is a change that could not be parsed, and is refused with that
        error. The method returns when the running plans have the new queries, and no plan has the removed ones.

        Raise ForbiddenError if the scope permits no changes. Raise KafkaError, including RegistryError, if Kafka fails.
        Raise PlanError if the queries together exceed a bound of plans. After an error nothing is changed, unless Kafka
        failed during the commit; then the next call of :meth:`expire` reads the registry again. Raise CancelledError if
        the call is cancelled before the write.
        """
        scope.check_change()
        with self.loads.started(len(changes), scope.name, cancellation or self._stopping) as load:
            while True:
                load.begin()
                standing = self.standing
                candidates, refused = self._validator.judged(changes, standing, load, scope)
                load.note_done("validated")
                load.cancellation.check()
                pending_change = PendingChange(changes, candidates, refused, standing, load, scope, keep_going)
                self._group_commit.add(pending_change)
                with self._lock:
                    # The holder of the lock answers all pending changes, so this change may be answered already.
                    if not pending_change.is_answered:
                        self._answer(self._group_commit.take())
                # If another change altered the query meanwhile, validate this change again.
                if not pending_change.is_stale:
                    return pending_change.answer()

    def rehearsed(
        self,
        changes: Sequence[Change | AscError],
        *,
        keep_going: bool = False,
        scope: Scope = DAEMON,
        cancellation: Cancellation | None = None,
    ) -> Outcome:
        """Return the outcome that :meth:`apply` would have, as far as validation can know it, and change nothing.

        Existing queries have their version, new queries -1. Conditions that show only on a write are not checked:
        whether Kafka creates the topics and accepts the writes, and the bounds of plans. Errors are as in
        :meth:`apply`.
        """
        scope.check_change()
        with self.loads.started(len(changes), scope.name, cancellation or self._stopping) as load:
            candidates, refused = self._validator.judged(changes, self.standing, load, scope)
            load.note_done("validated")
            with self._lock:
                now = self.standing
                removes = self._refuse_conflicts(changes, refused, scope)
                missing = (
                    self._validator.refuse_together(candidates, refused, scope, _ids(removes)) if candidates else ()
                )
        candidates = {i: one for i, one in sorted(candidates.items()) if i not in refused}
        if (refused and not keep_going) or not (candidates or removes):
            return Outcome(refused=refused)
        of_topics = self._validator.topic_warnings(candidates, missing)

        def registered(position: int, candidate: ValidatedQuery) -> Registered:
            query, warnings = candidate.query, (*candidate.warnings, *of_topics.get(position, ()))
            current = now.queries.get(query.id)
            if current is None:
                return Registered(query, {}, warnings, "registered")
            return Registered(query.at(current.version), {}, warnings, "unchanged" if now.holds(query) else "replaced")

        return Outcome(now.version, {i: registered(i, one) for i, one in candidates.items()}, removes, refused)

    def _answer(self, pending_changes: Sequence[PendingChange]) -> None:
        """Answer all pending changes, under the lock: as many as possible in one step, then the others one by one."""
        try:
            self._recover()
            together = [one for one in companions(pending_changes, self.standing) if one.is_of(self.standing)]
            while len(together) > 1:
                together = self._made_together(together)
            for pending_change in pending_changes:
                if not pending_change.is_answered:
                    self._recover()
                    self._make_alone(pending_change)
                    _raise_of_kafka(pending_change.error)
        except BaseException as error:
            # If Kafka does not answer, fail all pending changes: otherwise each of them would wait as long again.
            for pending_change in pending_changes:
                if not pending_change.is_answered:
                    pending_change.error = error
            if not isinstance(error, Exception):
                raise

    def _made_together(self, pending_changes: Sequence[PendingChange]) -> list[PendingChange]:
        """Apply and answer several pending changes in one step, and return an empty list. But if a change is refused,
        apply and answer none of them, and return the pending changes that contain no refused change.
        """
        before = self.standing
        changes, candidates = joined(pending_changes)
        try:
            load = LoadProgress(len(changes), cancellation=self._stopping)
            outcome = self._decided(changes, candidates, {}, load, DAEMON, keep_going=False)
        except AscError as error:
            _raise_of_kafka(error)
            return []
        if outcome.refused:
            return unrefused(pending_changes, outcome.refused)
        part(pending_changes, outcome, before)
        return []

    def _make_alone(self, pending_change: PendingChange) -> None:
        if not pending_change.is_of(self.standing):
            pending_change.is_stale = True
            return
        one = pending_change
        try:
            pending_change.outcome = self._decided(
                one.changes, one.candidates, one.refused, one.load, one.scope, keep_going=one.keep_going
            )
        except Exception as error:
            pending_change.error = error

    def _decided(
        self,
        changes: Sequence[Change | AscError],
        candidates: dict[int, ValidatedQuery],
        refused: dict[int, AscError],
        load: LoadProgress,
        scope: Scope,
        *,
        keep_going: bool,
    ) -> Outcome:
        """Apply validated changes under the lock, and return their outcome."""
        removes = self._refuse_conflicts(changes, refused, scope)
        missing_topics = (
            self._validator.refuse_together(candidates, refused, scope, _ids(removes)) if candidates else set()
        )
        candidates = {position: one for position, one in candidates.items() if position not in refused}
        if (refused and not keep_going) or not (candidates or removes):
            return Outcome(refused=refused)
        return self._made(candidates, removes, refused, missing_topics, load)

    def _refuse_conflicts(
        self, changes: Sequence[Change | AscError], refused: dict[int, AscError], scope: Scope
    ) -> dict[int, RegisteredQuery]:
        """Refuse changes that conflict with standing queries or each other, and return the queries to remove, by index.

        A change conflicts if its id is changed twice, is taken, may not be replaced, or is missing for a removal. Call
        this under the lock.
        """
        removes: dict[int, RegisteredQuery] = {}
        taken: set[str] = set()
        for position, change in enumerate(changes):
            if isinstance(change, AscError) or position in refused:
                continue
            with refusing(refused, position):
                if change.query_id in taken:
                    raise QueryError("duplicate id", change.query_id[:250], "is changed twice: keep one of them")
                current = self.standing.queries.get(change.query_id)
                if current is not None and not scope.owns(current.id, current.stream):
                    if isinstance(change, Remove):
                        raise unknown_query(change.query_id)
                    remedy = f"is taken by a query that token '{scope.name}' does not see: choose another id"
                    raise ForbiddenError("query id", change.query_id, remedy)
                if not isinstance(change, Remove) and not change.replaces and current is not None:
                    why = "is registered already, and is not to be replaced"
                    remedy = f"{why}: take another id, or leave out --no-replace (If-None-Match)"
                    raise StandingQueryError("query", change.query_id, remedy)
                if isinstance(change, Remove):
                    removes[position] = self.standing.get(change.query_id)
                taken.add(change.query_id)
        return removes

    def expire(self) -> list[str]:
        """Remove the expired queries, and return their ids.

        The daemon calls this often. If a write to the registry failed before, the call also restores the state from the
        registry.
        """
        with self._lock:
            self._recover()
            ids = self.standing.expired(_now())
            if ids:
                self.apply([Remove(query_id) for query_id in ids])
        return ids

    def _made(
        self,
        candidates: Mapping[int, ValidatedQuery],
        removes: Mapping[int, RegisteredQuery],
        refused: Mapping[int, AscError],
        missing_topics: Collection[str],
        load: LoadProgress,
    ) -> Outcome:
        """Write changes that are not refused, swap the plans, and return the outcome.

        Unchanged queries are not written.
        """
        before, gone = self.standing, _ids(removes)
        unchanged = {i: before.get(one.query.id) for i, one in candidates.items() if before.holds(one.query)}
        of_topics = self._validator.topic_warnings(candidates, missing_topics)
        warnings = {i: (*one.warnings, *of_topics.get(i, ())) for i, one in candidates.items()}
        candidates = {i: with_since(one, before) for i, one in candidates.items() if i not in unchanged}
        running = self._query_state.plans()
        plans = self._planning.changed(running, before, list(candidates.values()), gone, load.cancellation)
        load.cancellation.check()
        keyed = keyed_topics(candidates.values()) & set(missing_topics)
        self._cluster.create_topics(set(missing_topics) - keyed)
        self._cluster.create_topics(keyed, COMPACTED)
        for name in fed_streams(candidates.values()):
            make_feed(self._cluster, self._config.feed_topic(name))
        changed = [candidate.query for candidate in candidates.values()]
        load.note_done("compiled", len(changed))
        versions = self._written(changed, gone) if changed or gone else {}
        load.note_done("written", len(versions))
        try:
            version = max(versions.values(), default=before.version)
            written = {i: candidate.query.at(versions[candidate.query.id]) for i, candidate in candidates.items()}
            after = before.changed(written.values(), gone, version)
            for stream in self._streams.values():
                stream.evaluation_errors.set_registered(after.queries, gone)
            if changes_states([*changed, *removes.values(), *(before.queries.get(one.id) for one in changed)]):
                keep_states(self._streams, after, plans)
            offsets = {
                name: self._streams[name].running.replace(replace(plan, version=version), running[name])
                for name, plan in plans.items()
            }
            self._query_state.now = after
        except BaseException:
            # The registry already contains the change. The next change first restores the state from the registry.
            self._is_uncertain = True
            raise
        made = {**written, **unchanged}
        for name in {query.stream for query in made.values()} - offsets.keys():
            offsets[name] = self._streams[name].running.effective_offsets()

        def registered_at(position: int) -> Registered:
            query = made[position]
            previous = before.queries.get(query.id) if position not in unchanged else None
            became: Became = "unchanged" if position in unchanged else "registered" if previous is None else "replaced"
            return Registered(query, offsets[query.stream], warnings[position], became, previous)

        registered = {i: registered_at(i) for i in sorted(made)}
        return Outcome(version, registered, removes, refused, offsets)

    def _written(
        self,
        queries: Sequence[RegisteredQuery],
        removes: Collection[str],
        marks: Mapping[str, LayerMark] | None = None,
    ) -> dict[str, int]:
        """Write a change to the registry, and return the version of each id in the change."""
        try:
            return self._registry.write(queries, removes, marks)
        except RegistryError as error:
            self._is_uncertain = not isinstance(error, RegistryTakenError)
            self.problem = error
            raise

    def _recover(self) -> None:
        """Open the registry again as its writer after a failed write, and adopt its content."""
        if not self._is_uncertain:
            return
        self._registry.close()
        self._registry.open()
        self._query_state.relearn()
        self._is_uncertain = False
        self.problem = None


def _raise_of_kafka(error: BaseException | None) -> None:
    """Raise the error if it concerns Kafka as a whole, but not if it concerns one topic or one query."""
    if isinstance(error, KafkaError) and not isinstance(error, TopicError):
        raise error


def _ids(removes: Mapping[int, RegisteredQuery]) -> list[str]:
    return [query.id for query in removes.values()]


def _now() -> datetime:
    return datetime.now(timezone.utc)
