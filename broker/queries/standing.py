"""What stands, and how it comes to other than by a change: at the start, after a write that failed, by parking."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from asc.errors import AscError
from asc.plan.compiler import renewed
from asc.plan.plan import Plan
from broker.config.config import Config
from broker.kafka.cluster import KafkaCluster
from broker.layers.layers import Layers, News
from broker.layers.mark import LayerMark
from broker.plans.offsets import Offsets
from broker.queries.expansion import Changed, Made, Reshaped
from broker.queries.parking import Parking
from broker.queries.planning import Planning
from broker.queries.query_set import QuerySet
from broker.queries.registry import Held, Registry
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
        self._layers = Layers(config, cluster)
        self._snapshots = Snapshots.of(config, cluster, {name: stream.fields.ddl() for name, stream in streams.items()})
        self._stored_version, self._stored_at_s = -1, float("-inf")
        self._not_stored_before_s = float("-inf")
        self.now = self._set(Held({}, {}, -1))

    def load(self) -> None:
        """At the start: read the registry, remove what has expired, put the rest into the running plans, and the plan
        of an earlier version where a batch is to be run again with it.
        """
        with collector.paused():
            self._load()

    def _load(self) -> None:
        self._layers.make()
        stored = Stored.read(self._snapshots, self._registry, self._config.source_topics)
        if stored is None:
            loaded, changed = self._with_layers(self._set(self._registry.load()))[0], Changed(())
        else:
            loaded, changed = self._stored_at(stored)
            self._stored_version, self._stored_at_s = stored.snapshot.standing.version, time.monotonic()
        expired = loaded.expired(_now())
        if expired:
            loaded = loaded.changed((), expired, max(self._registry.write((), expired).values()))
        self._parking.begin(loaded)
        if stored is None:
            self._take_over(loaded)
        else:
            changed = replace(changed, queries={*changed.queries, *expired})
            self._take_over(loaded, _Since(stored.snapshot.standing, stored.snapshot.plans, changed))
        self._plan_replays(stored)

    def news_of_layers(self, until: Mapping[str, Offsets] | None = None) -> dict[str, News]:
        """What was written to the topics of layers and is in no plan; ``until``: what is waited for. Without a lock but
        one over what follows the topics. Raises KafkaError.
        """
        return self._layers.news(self.now.layers, until)

    def made_members(self, news: Mapping[str, News]) -> Made:
        """What :meth:`take_layers` needs of joins, which takes a while for many shapes; without a lock, as above."""
        after = self.now.with_layers({name: one.after for name, one in news.items()})
        return self.planning.made_members(after, {name: one.changed for name, one in news.items()})

    def take_layers(self, news: Mapping[str, News], version: int, made: Made) -> dict[str, Offsets]:
        """Make layers, whose marks the registry has as a version, those that stand, and put them into the plans; the
        effective offsets by stream. ``made``: of :meth:`made_members`, from the same news.
        """
        marks = {name: one.after.mark for name, one in news.items()}
        after = self.now.with_marks(marks, version).with_layers({name: one.after for name, one in news.items()})
        return self._take_over(after, self._since(Changed((), {name: one.changed for name, one in news.items()}, made)))

    @property
    def layers(self) -> Layers:
        """The layers' topics."""
        return self._layers

    def _with_layers(
        self, queries: QuerySet, since: Mapping[str, LayerMark] | None = None
    ) -> tuple[QuerySet, Reshaped]:
        """A set with the layers at its marks, and the shapes that changed after some others."""
        if not self._config.layers:
            return queries, {}
        layers, changed = self._layers.at(queries.marks, since)
        return queries.with_layers(layers), {} if since is None else changed

    def _stored_at(self, stored: Stored, version: int | None = None) -> tuple[QuerySet, Changed]:
        """As :meth:`Stored.at`, with the layers, and what changed."""
        found, changed = stored.at(version)
        found, shapes = self._with_layers(found, stored.snapshot.standing.marks)
        return found, Changed(changed, shapes)

    def close(self) -> None:
        """Follow the layers no longer."""
        self._layers.close()

    def store(self, current: tuple[QuerySet, Mapping[str, Plan]]) -> None:
        """Write a snapshot where one is due, for the next start. ``current``: a set that stood and the plans of it.

        It is due where there are many queries and many changes since the last one, or some and it is old. Raises
        OSError; what is stored is the one before then.
        """
        standing, plans = current
        changes = standing.version - self._stored_version
        is_old = time.monotonic() - self._stored_at_s > _STORED_S
        # A join counts as what plans hold of it.
        queries = max(len(standing), sum(map(len, plans.values())))
        if queries < _STORED_QUERIES or changes <= 0 or (changes < queries * _STORED_SHARE and not is_old):
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
        self._parking.note(self.now, lambda version: self._registry.state_at(version).queries)
        self._take_over(self.now, self._since(Changed(self._parking.ids())))
        self._plan_replays()

    def let_go_on(self) -> None:
        """Let the streams go on that waited for it."""
        self._parking.let_go_on()

    def relearn(self) -> None:
        """Learn what the registry really holds, where a write may have failed or not."""
        records = self._registry.records_after(self.now.version)
        if records is None:
            self._take_over(self._with_layers(self._set(self._registry.load()))[0])
        elif records:
            after, changed = after_records(self.now, records)
            shapes: Reshaped = {}
            if after.marks != self.now.marks:
                after, shapes = self._with_layers(after, self.now.marks)
            version = after.version
            LOG.warning("the registry holds a change that was thought to have failed: version %d is in place", version)
            self._take_over(after, self._since(Changed(changed, shapes)))

    def _take_over(self, after: QuerySet, since: _Since | None = None) -> dict[str, Offsets]:
        """Make what the registry holds the standing queries and the running plans; the effective offsets by stream."""
        plans, unserved = self._plans_of(after, since)
        for query_id, reason in unserved.items():
            if self.now.unserved.get(query_id) != reason:
                LOG.warning("query '%s' is not served: %s", query_id, reason)
        offsets = {}
        for name, plan in plans.items():
            self._streams[name].evaluation_errors.stand(after.queries)
            offsets[name] = self._streams[name].running.replace(plan)
        self.now = after.with_unserved(unserved)
        return offsets

    def _plans_of(self, after: QuerySet, since: _Since | None) -> tuple[dict[str, Plan], dict[str, str]]:
        """The plans of a set, made of earlier ones where there are such, and the queries that none of them holds."""
        if since is not None:
            changed = replace(since.changed, queries={*since.changed.queries, *self._parking.ids()})
            try:
                plans, unserved = self.planning.plans_after(
                    since.standing, since.plans, after, changed, self._parking.reason
                )
            except AscError as error:
                LOG.warning("all queries are compiled anew: %s", error)
            else:
                return (_without_leftovers(plans) if self._parking.ids() else plans), unserved
        return self.planning.plans(after, after.version, self._parking.reason, after.shapes)

    def _since(self, changed: Changed) -> _Since:
        return _Since(self.now, self.plans(), changed)

    def _set(self, held: Held) -> QuerySet:
        queries = QuerySet(held.queries, held.version, watched=self._config.source_topics)
        return queries.with_marks(held.marks, held.version)

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
                    then, changed = self._stored_at(stored, begun)
                    since = _Since(stored.snapshot.standing, stored.snapshot.plans, changed)
                else:
                    then, since = self._with_layers(self._set(self._registry.state_at(begun)))[0], None
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
    """What stood, the plans of it, and what has changed since."""

    standing: QuerySet
    plans: Mapping[str, Plan]
    changed: Changed


def _now() -> datetime:
    return datetime.now(timezone.utc)
