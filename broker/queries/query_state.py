"""The standing queries, and their changes outside registration: at the start, after a failed write, and by parking."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from asc.errors import AscError
from asc.plan.compiler import renewed
from asc.plan.plan import Plan
from broker.cancellation import Cancellation
from broker.config.config import Config
from broker.kafka.cluster import KafkaCluster
from broker.layers.layers import Layers, News
from broker.layers.mark import LayerMark
from broker.plans.offsets import Offsets
from broker.queries.expansion import Changed, Made, Reshaped
from broker.queries.kept_states import keep_states
from broker.queries.parking import Parking
from broker.queries.planning import Planning
from broker.queries.query_set import QuerySet
from broker.queries.recovered_state import RecoveredState, after_records
from broker.queries.registry import Held, Registry
from broker.queries.snapshot import Snapshots
from broker.runtime import collector
from broker.stream.stream import Stream

LOG = logging.getLogger("asc.registration")

_SNAPSHOT_QUERIES = 5_000
"""The smallest number of queries for which a snapshot is written. Fewer queries are read from the registry just as
fast.
"""

_SNAPSHOT_SHARE = 0.02
"""The number of changes since the last snapshot, as a share of the queries, at which a new snapshot is due."""

_SNAPSHOT_PAUSE_S = 60.0
"""The pause in seconds after a snapshot could not be written."""

_SNAPSHOT_S = 600.0
"""The age of the last snapshot in seconds from which any change makes a new snapshot due."""


class QueryState:
    """The standing queries (``now``) and their running plans, kept consistent with the registry.

    If running plans or a snapshot exist, only changes since then are validated and compiled. Invariant: ``now`` and the
    running plan of every stream agree. Not thread-safe: a caller that changes queries holds a lock over all methods
    except :meth:`store`.
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
        """Read the registry at the start, remove expired queries, and put the other queries into the running plans.

        If a batch is to be replayed with the plan of an earlier version, compile that plan too.
        """
        with collector.paused():
            self._load()

    def _load(self) -> None:
        self._layers.make()
        stored = RecoveredState.read(self._snapshots, self._registry, self._config.source_topics)
        if stored is None:
            loaded, changed = self._with_layers(self._set(self._registry.load()))[0], Changed(())
        else:
            loaded, changed = self._stored_at(stored)
            self._stored_version, self._stored_at_s = stored.snapshot.standing.version, time.monotonic()
        expired = loaded.expired(_now())
        if expired:
            loaded = loaded.changed((), expired, max(self._registry.write((), expired).values()))
        self._parking.begin(loaded)
        # Before a stream starts: a query that was registered anew is then tried from its first record on.
        self._note_findings(loaded)
        if stored is None:
            self._take_over(loaded)
        else:
            changed = replace(changed, queries={*changed.queries, *expired})
            self._take_over(loaded, _Base(stored.snapshot.standing, stored.snapshot.plans, changed))
        self._plan_replays(stored)
        self._parking.let_go_on()

    def news_of_layers(self, until: Mapping[str, Offsets] | None = None) -> dict[str, News]:
        """Return the unread changes in the topics of layers, by layer. ``until``: by layer, the offsets up to which the
        call waits for records. Call this with the lock :attr:`Registrar._following`, and no other lock. Raise
        KafkaError.
        """
        return self._layers.news(self.now.layers, until)

    def made_members(self, news: Mapping[str, News], cancellation: Cancellation) -> Made:
        """Return the members of joins that :meth:`take_layers` needs.

        The computation takes a while for many shapes, so call it without the lock of changes. Raise CancelledError.
        """
        after = self.now.with_layers({name: one.after for name, one in news.items()})
        return self.planning.made_members(after, {name: one.changed for name, one in news.items()}, cancellation)

    def take_layers(self, news: Mapping[str, News], version: int, made: Made) -> dict[str, Offsets]:
        """Replace the changed layers, put them into the plans, and return the effective offsets by stream.

        ``version``: the registry version that has the marks of the layers. ``made``: the result of :meth:`made_members`
        for the same news.
        """
        marks = {name: one.after.mark for name, one in news.items()}
        after = self.now.with_marks(marks, version).with_layers({name: one.after for name, one in news.items()})
        return self._take_over(
            after, self._changed_now(Changed((), {name: one.changed for name, one in news.items()}, made))
        )

    @property
    def layers(self) -> Layers:
        """Return the layers of the configuration, with their topics."""
        return self._layers

    def _with_layers(
        self, queries: QuerySet, earlier_marks: Mapping[str, LayerMark] | None = None
    ) -> tuple[QuerySet, Reshaped]:
        """Return a query set with the layers as they are at the set's marks (offsets of the layers' topics), and the
        shapes that changed since ``earlier_marks``.
        """
        if not self._config.layers:
            return queries, {}
        layers, changed = self._layers.at(queries.marks, earlier_marks)
        return queries.with_layers(layers), {} if earlier_marks is None else changed

    def _stored_at(self, stored: RecoveredState, version: int | None = None) -> tuple[QuerySet, Changed]:
        """Return the queries of a version with their layers, and the changes since the snapshot.

        See :meth:`RecoveredState.at`.
        """
        queries, changed = stored.at(version)
        queries, shapes = self._with_layers(queries, stored.snapshot.standing.marks)
        return queries, Changed(changed, shapes)

    def close(self) -> None:
        """Stop following the topics of layers."""
        self._layers.close()

    def store(self, current: tuple[QuerySet, Mapping[str, Plan]]) -> None:
        """Write a snapshot for the next start, if it is due. ``current``: the standing queries and their plans.

        A snapshot is due if there are many queries and many changes since the last one, or any change and the last one
        is old. Raise OSError; the previous snapshot then remains.
        """
        standing, plans = current
        changes = standing.version - self._stored_version
        is_old = time.monotonic() - self._stored_at_s > _SNAPSHOT_S
        # A join counts as the number of its members in the plans.
        queries = max(len(standing), sum(map(len, plans.values())))
        if queries < _SNAPSHOT_QUERIES or changes <= 0 or (changes < queries * _SNAPSHOT_SHARE and not is_old):
            return
        if time.monotonic() < self._not_stored_before_s:
            return
        # If the write fails, the next attempt waits.
        self._not_stored_before_s = time.monotonic() + _SNAPSHOT_PAUSE_S
        self._snapshots.write(standing, plans)
        self._not_stored_before_s = float("-inf")
        self._stored_at_s = time.monotonic()
        self._stored_version = standing.version
        LOG.info("snapshot written: %d queries, at version %d", len(standing), standing.version)

    def plans(self) -> dict[str, Plan]:
        """Return the running plan of every stream."""
        return {name: stream.running.plan for name, stream in self._streams.items()}

    @property
    def is_parking_due(self) -> bool:
        """Return whether a stream has a finding (causes of failing batches, :class:`DiagnosisResult`) for which queries
        are to be parked.
        """
        return self._parking.is_due()

    def park(self) -> None:
        """Park the queries that the findings of streams concern. Raise KafkaError if the registry cannot be read."""
        self._note_findings(self.now)
        self._take_over(self.now, self._changed_now(Changed(self._parking.ids())))
        self._plan_replays()

    def _note_findings(self, standing: QuerySet) -> None:
        self._parking.note(standing, lambda version: self._registry.state_at(version).queries)

    def let_go_on(self) -> None:
        """Let those streams go on that waited until their queries were parked."""
        self._parking.let_go_on()

    def relearn(self) -> None:
        """Read the content of the registry again after a write with an unknown outcome, and replace the standing
        queries and the running plans by this content.
        """
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
            self._take_over(after, self._changed_now(Changed(changed, shapes)))

    def _take_over(self, after: QuerySet, base: _Base | None = None) -> dict[str, Offsets]:
        """Replace the standing queries and the running plans by those of a set, and return the effective offsets."""
        plans, unserved = self._plans_of(after, base)
        for query_id, reason in unserved.items():
            if self.now.unserved.get(query_id) != reason:
                LOG.warning("query '%s' is not served: %s", query_id, reason)
        after = after.with_unserved(unserved)
        offsets = {}
        keep_states(self._streams, after, plans)
        for name, plan in plans.items():
            self._streams[name].evaluation_errors.set_registered(after.queries)
            offsets[name] = self._streams[name].running.replace(plan)
        self.now = after
        return offsets

    def _plans_of(self, after: QuerySet, base: _Base | None) -> tuple[dict[str, Plan], dict[str, str]]:
        """Return the plans of a set, derived from earlier plans if possible, and the reasons of unserved queries."""
        if base is not None:
            changed = replace(base.changed, queries={*base.changed.queries, *self._parking.ids()})
            try:
                plans, unserved = self.planning.plans_after(
                    base.standing, base.plans, after, changed, self._parking.reason
                )
            except AscError as error:
                LOG.warning("all queries are compiled anew: %s", error)
            else:
                return (_without_leftovers(plans) if self._parking.ids() else plans), unserved
        return self.planning.plans(after, after.version, self._parking.reason, after.shapes)

    def _changed_now(self, changed: Changed) -> _Base:
        return _Base(self.now, self.plans(), changed)

    def _set(self, held: Held) -> QuerySet:
        queries = QuerySet(held.queries, held.version, watched=self._config.source_topics)
        return queries.with_marks(held.marks, held.version)

    def _plan_replays(self, stored: RecoveredState | None = None) -> None:
        """Compile the plans of earlier versions with which batches are to be replayed."""
        replayed: dict[int, dict[str, Plan]] = {}
        for name, stream in self._streams.items():
            version = stream.running.version_to_replay
            if version is None:
                continue
            if version == self.now.version:
                stream.running.replay_with(stream.running.plan)
                continue
            if version not in replayed:
                # For all streams, because the queries that a stream serves may depend on streams that feed it.
                if stored is not None and version >= stored.snapshot.standing.version:
                    then, changed = self._stored_at(stored, version)
                    base = _Base(stored.snapshot.standing, stored.snapshot.plans, changed)
                else:
                    then, base = self._with_layers(self._set(self._registry.state_at(version)))[0], None
                replayed[version], _ = self._plans_of(then, base)
            stream.running.replay_with(replayed[version][name])


def _without_leftovers(plans: Mapping[str, Plan]) -> dict[str, Plan]:
    """Return plans without Spark expressions that no query uses any more. Such an expression of a parked query would
    otherwise still be evaluated, and end batches.
    """
    kept = {}
    for name, plan in plans.items():
        used = plan.computed
        has_leftovers = any(own.is_computed and own not in used for own in plan.p_attributes)
        kept[name] = renewed(plan) if has_leftovers else plan
    return kept


@dataclass(frozen=True, slots=True)
class _Base:
    """The standing queries and plans from which new plans are derived, and the changes since them."""

    standing: QuerySet
    plans: Mapping[str, Plan]
    changed: Changed


def _now() -> datetime:
    return datetime.now(timezone.utc)
