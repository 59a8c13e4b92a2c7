"""What stands, and how it comes to other than by a change: at the start, after a write that failed, by parking."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone

from asc.errors import AscError
from asc.plan.compiler import renewed
from asc.plan.plan import Plan
from broker.config.config import Config
from broker.kafka.cluster import KafkaCluster
from broker.queries.parking import Parking
from broker.queries.planning import Planning
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.registry import Registry
from broker.queries.snapshot import Snapshots
from broker.queries.stored import Stored, after_records
from broker.runtime import collector
from broker.stream.stream import Stream

LOG = logging.getLogger("asc.registration")

_STORED_QUERIES = 5_000
"""Fewer are read from the registry about as fast as from a snapshot."""

_STORED_SHARE = 0.02
"""Changes since a snapshot, as a share of the queries, that call for another one."""

_STORED_PAUSE_S = 60.0
"""Between a snapshot that could not be written and the next attempt."""

_STORED_S = 600.0
"""Fewer changes are stored when the snapshot is so old."""


class StandingQueries:
    """The set that stands, ``now``, and the running plans of it, brought together with what the registry holds.

    Where something of what stands is known, the running plans or a snapshot, only what changed since is judged and
    compiled. Invariant: ``now`` and the running plan of every stream say the same. Not thread-safe: whoever changes
    queries holds a lock, over all but :meth:`store`.
    """

    def __init__(
        self,
        config: Config,
        cluster: KafkaCluster,
        registry: Registry,
        streams: Mapping[str, Stream],
        set_aside: Collection[str],
    ) -> None:
        self._config = config
        self._registry = registry
        self._streams = streams
        self.planning = Planning(config, {name: stream.analyser for name, stream in streams.items()})
        self._parking = Parking(streams, set_aside)
        self._snapshots = Snapshots.of(config, cluster, {name: stream.fields.ddl() for name, stream in streams.items()})
        self._stored_version, self._stored_at_s = -1, float("-inf")
        self._not_stored_before_s = float("-inf")
        self.now = self._set({}, -1)

    def load(self) -> None:
        """At the start: read the registry, remove what has expired, put the rest into the running plans, and the plan
        of an earlier version where a batch is to be run again with it.
        """
        with collector.paused():
            self._load()

    def _load(self) -> None:
        stored = Stored.read(self._snapshots, self._registry, self._config.source_topics)
        if stored is None:
            loaded, changed = self._set(*self._registry.load()), set[str]()
        else:
            loaded, changed = stored.at()
            self._stored_version, self._stored_at_s = stored.snapshot.standing.version, time.monotonic()
        expired = loaded.expired(_now())
        if expired:
            loaded = loaded.changed((), expired, max(self._registry.write((), expired).values()))
        self._parking.begin(loaded)
        if stored is None:
            self._take_over(loaded)
        else:
            self._take_over(loaded, _Since(stored.snapshot.standing, stored.snapshot.plans, {*changed, *expired}))
        self._plan_replays(stored)

    def store(self, current: tuple[QuerySet, Mapping[str, Plan]]) -> None:
        """Write a snapshot where one is due, for the next start. ``current``: a set that stood and the plans of it.

        It is due where there are many queries and many changes since the last one, or some and it is old. Raises
        OSError; what is stored is the one before then.
        """
        standing, plans = current
        changes = standing.version - self._stored_version
        is_old = time.monotonic() - self._stored_at_s > _STORED_S
        if len(standing) < _STORED_QUERIES or changes <= 0 or (changes < len(standing) * _STORED_SHARE and not is_old):
            return
        if time.monotonic() < self._not_stored_before_s:
            return
        # Where it cannot be written, it is not tried again at once.
        self._not_stored_before_s = time.monotonic() + _STORED_PAUSE_S
        self._snapshots.write(standing, plans)
        self._not_stored_before_s = float("-inf")
        self._stored_at_s = time.monotonic()
        self._stored_version = standing.version
        LOG.info("snapshot written: %d queries, at version %d", len(standing), standing.version)

    def plans(self) -> dict[str, Plan]:
        """The running plan of every stream."""
        return {name: stream.running.plan for name, stream in self._streams.items()}

    @property
    def is_parking_due(self) -> bool:
        """Whether a stream waits for queries to be parked."""
        return self._parking.is_due()

    def park(self) -> None:
        """Park what streams found they cannot go on with. KafkaError where the registry cannot be read."""
        self._parking.note(self.now, self._registry.state_at)
        self._take_over(self.now, self._since(self._parking.ids()))
        self._plan_replays()

    def let_go_on(self) -> None:
        """Let the streams go on that waited for it."""
        self._parking.let_go_on()

    def relearn(self) -> None:
        """Learn what the registry really holds, where a write may have failed or not."""
        records = self._registry.records_after(self.now.version)
        if records is None:
            self._take_over(self._set(*self._registry.load()))
        elif records:
            after, changed = after_records(self.now, records)
            version = after.version
            LOG.warning("the registry holds a change that was thought to have failed: version %d is in place", version)
            self._take_over(after, self._since(changed))

    def _take_over(self, after: QuerySet, since: _Since | None = None) -> None:
        """Make what the registry holds the standing queries and the running plans."""
        plans, unserved = self._plans_of(after, since)
        for query_id, reason in unserved.items():
            if self.now.unserved.get(query_id) != reason:
                LOG.warning("query '%s' is not served: %s", query_id, reason)
        for name, plan in plans.items():
            self._streams[name].evaluation_errors.stand(after.queries)
            self._streams[name].running.replace(plan)
        self.now = after.with_unserved(unserved)

    def _plans_of(self, after: QuerySet, since: _Since | None) -> tuple[dict[str, Plan], dict[str, str]]:
        """The plans of a set, made of earlier ones where there are such, and the queries that none of them holds."""
        if since is not None:
            changed = since.changed | self._parking.ids()
            try:
                plans, unserved = self.planning.plans_after(
                    since.standing, since.plans, after, changed, self._parking.reason
                )
            except AscError as error:
                LOG.warning("all queries are compiled anew: %s", error)
            else:
                return (_without_leftovers(plans) if self._parking.ids() else plans), unserved
        return self.planning.plans(after, after.version, self._parking.reason)

    def _since(self, changed: set[str]) -> _Since:
        return _Since(self.now, self.plans(), changed)

    def _set(self, queries: Mapping[str, RegisteredQuery], version: int) -> QuerySet:
        return QuerySet(queries, version, watched=self._config.source_topics)

    def _plan_replays(self, stored: Stored | None = None) -> None:
        """Where a batch is to be run again with an earlier version, make the plan of that."""
        replayed: dict[int, dict[str, Plan]] = {}
        for name, stream in self._streams.items():
            begun = stream.running.version_to_replay
            if begun is None:
                continue
            if begun == self.now.version:
                stream.running.replay_with(stream.running.plan)
                continue
            if begun not in replayed:
                # Of all streams: what is served of one may hang on the others, for they may feed each other.
                if stored is not None and begun >= stored.snapshot.standing.version:
                    then, changed = stored.at(begun)
                    since = _Since(stored.snapshot.standing, stored.snapshot.plans, changed)
                else:
                    then, since = self._set(self._registry.state_at(begun), begun), None
                replayed[begun], _ = self._plans_of(then, since)
            stream.running.replay_with(replayed[begun][name])


def _without_leftovers(plans: Mapping[str, Plan]) -> dict[str, Plan]:
    """Plans by which Spark computes nothing that no query uses: what was parked may be what ends batches."""
    kept = {}
    for name, plan in plans.items():
        used = plan.computed
        has_leftovers = any(own.is_computed and own not in used for own in plan.p_attributes)
        kept[name] = renewed(plan) if has_leftovers else plan
    return kept


@dataclass(frozen=True, slots=True)
class _Since:
    """What stood, the plans of it, and the ids that have changed since."""

    standing: QuerySet
    plans: Mapping[str, Plan]
    changed: set[str]


def _now() -> datetime:
    return datetime.now(timezone.utc)
