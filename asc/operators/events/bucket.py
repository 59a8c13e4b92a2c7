"""The computation of enter, exit and lost events, for objects that queries begin or cease to accept, or that are no
longer observed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from asc.errors import FeedFormError
from asc.operators.events.event_query import OP, EventQuery
from asc.operators.exclusions import FeedCounts, exclusion_reason
from asc.operators.feed import OF_SHAPE, Kind, Message, Observation, Settings, Watermarks
from asc.operators.feed_claim import ClaimedFeed
from asc.operators.feed_form_1 import settings_of_form_1
from asc.operators.registration import in_turn
from asc.operators.times import FIRST_US, LAST_US, is_watermark, time_text

_FORM = 2

_QUERIES_COUNTED = 1_000
"""The most queries of a part for which the number of objects inside is reported. Every batch reports these numbers for
each part of the feed, so more would be costly.
"""


@dataclass(frozen=True, slots=True)
class Event:
    """An output of an event query.

    The event goes to ``topic``, with ``key`` (the object), ``value`` (JSON) and ``identity``. These are the same
    whenever the event is written again. ``query``: the id of the query. ``source``: the record of the object's last
    observation.
    """

    topic: str
    key: str
    value: str
    identity: str
    query: str
    source: str
    kind: Kind


@dataclass(slots=True)
class _Run:
    """The state of an object for a query, or for one shape of a query that is a join.

    ``is_inside``: whether an enter event was due, and no exit or lost event was due since then. ``is_accepted``:
    whether the query accepted the last observation. ``since_us``: the time of the first observation in the latest
    unbroken sequence with this ``is_accepted``.
    """

    is_inside: bool
    is_accepted: bool
    since_us: int


@dataclass(slots=True)
class _Object:
    """The state of an object: its last observation, and its runs by ``query`` or ``query/shape``. An object has a run
    only while it is inside or accepted.
    """

    partition: int
    offset: int
    newest_us: int
    position: tuple[float, ...]
    runs: dict[str, _Run] = field(default_factory=dict)


@dataclass(slots=True)
class _Track:
    """The objects of one track, by key, and the queries that watch them, of which there is at least one.

    ``time``: the name of its event time. ``watching``: the queries of each selection. ``inside``: for each query, the
    number of runs with ``is_inside``. ``shortest_us`` and ``longest_us``: the shortest and the longest
    ``lost_after_us`` of these queries. ``due_us``: the earliest watermark at which a run must be closed or an object
    forgotten.
    """

    queries: dict[str, EventQuery]
    time: str = ""
    watching: dict[str, list[str]] = field(default_factory=dict)
    objects: dict[str, _Object] = field(default_factory=dict)
    inside: Counter[str] = field(default_factory=Counter)
    watermark_us: int = FIRST_US
    due_us: int = FIRST_US
    shortest_us: int = 0
    longest_us: int = 0

    def watched_by(self, queries: dict[str, EventQuery]) -> None:
        """Replace the queries that watch the track. Forget the runs (states of objects) of queries that are gone."""
        self.queries, self.due_us = queries, FIRST_US
        self.time = next(iter(queries.values())).time
        self.watching = {}
        for query in queries.values():
            for selection in query.selections:
                self.watching.setdefault(selection, []).append(query.id)
        self.shortest_us = min(query.lost_after_us for query in queries.values())
        self.longest_us = max(query.lost_after_us for query in queries.values())
        for known in self.objects.values():
            known.runs = {name: run for name, run in known.runs.items() if _query_of(name) in queries}
        self.inside = Counter({query_id: count for query_id, count in self.inside.items() if query_id in queries})

    def names_of(self, selections: Iterable[str]) -> list[str]:
        """Return the names of the runs (states of an object for one query) to which a record with these selections
        belongs. A name is the id of a query that accepts the record. For a join, the name includes the shape, as
        ``query/shape``.
        """
        found = []
        for selected in selections:
            selection, of_shape, shape = selected.partition(OF_SHAPE)
            found += [f"{query_id}{of_shape}{shape}" for query_id in self.watching.get(selection, ())]
        return found

    def count_inside(self) -> None:
        """Count the runs with ``is_inside`` for each query, by a walk over all objects."""
        runs = (item for known in self.objects.values() for item in known.runs.items())
        self.inside = Counter(_query_of(name) for name, run in runs if run.is_inside)

    def due_of(self, known: _Object) -> int:
        """Return the earliest watermark at which a run of the object (its state for one query) must be closed, or at
        which the object must be forgotten.
        """
        after_us = (self.queries[_query_of(name)].lost_after_us for name in known.runs)
        return known.newest_us + min(after_us, default=self.longest_us)


class Bucket:
    """The objects of one partition of a feed. A bucket turns the messages of the partition into events, in order.

    Invariant: state and events are a function of the messages alone, however these are split into batches. Between two
    batches the state is that of :meth:`to_bytes`. An object is forgotten once the watermark exceeds its last
    observation by the longest ``lost_after_us`` of its track. So the bucket holds at most the objects seen within that
    time, and never more than the settings allow.

    Cost: some 150 bytes for each object in the serialised state, which is read and written at each batch. An
    observation takes time proportional to the number of queries that accept the record or have a run of its object.
    ``docs/events.md`` describes observations and the types of events: enter, exit, dwell and lost.
    """

    def __init__(self) -> None:
        self._settings = Settings(OP, "", True, 0, ())
        self._tracks: dict[str, _Track] = {}
        self._feed = ClaimedFeed(OP, EventQuery.of)
        self.counts = FeedCounts()

    @property
    def held(self) -> int:
        """Return the number of objects that the state holds."""
        return sum(len(track.objects) for track in self._tracks.values())

    def read(self, texts: Iterable[str | bytes]) -> Iterator[Event]:
        """Yield the events that the next messages cause. Count each text that is no message as excluded."""
        yield from self.events(self._feed.messages(texts, self.counts))
        self.counts.latest = self._inside()

    def events(self, messages: Iterable[Message]) -> Iterator[Event]:
        """Yield the events that the next messages cause, in order."""
        for message in messages:
            if isinstance(message, Observation):
                yield from self._observed(message)
            elif isinstance(message, Watermarks):
                for track in self._tracks.values():
                    if track.time in message.by_time:
                        yield from self._passed(track, message.by_time[track.time])
            else:
                self._set(message)

    def _inside(self) -> dict[str, dict[str, int]]:
        """Return for each query the number of objects inside. Return an empty dict if there are more than
        _QUERIES_COUNTED queries.
        """
        if sum(len(track.queries) for track in self._tracks.values()) > _QUERIES_COUNTED:
            return {}
        return {
            query_id: {"objects_inside": track.inside[query_id]}
            for track in self._tracks.values()
            for query_id in track.queries
        }

    # -- settings

    def _set(self, settings: Settings) -> None:
        """Replace the settings. Forget the runs (states of objects) of registrations that are gone, and the objects
        that no query watches.
        """
        if settings == self._settings:
            return
        for each in in_turn(self._settings, settings):
            self._apply(each)

    def _apply(self, settings: Settings) -> None:
        self._settings = settings
        queries: dict[str, dict[str, EventQuery]] = {}
        for query in map(EventQuery.of, settings.queries):
            queries.setdefault(query.track, {})[query.id] = query
        before = self._tracks
        self._tracks = {name: before.get(name) or _Track(own) for name, own in queries.items()}
        for name, track in self._tracks.items():
            track.watched_by(queries[name])

    # -- observations

    def _observed(self, seen: Observation) -> Iterator[Event]:
        track = self._tracks.get(seen.track)
        if track is None:
            return
        known = None if seen.key is None else track.objects.get(seen.key)
        reason = self._no_observation(seen, known)
        if reason is not None:
            self.counts.excluded[reason] += 1
            return
        assert seen.key is not None
        assert seen.time_us is not None
        position = tuple(float(part) for part in seen.position if part is not None)
        if known is None:
            known = track.objects[seen.key] = _Object(seen.partition, seen.offset, seen.time_us, position)
        track.due_us = min(track.due_us, seen.time_us + track.shortest_us)
        known.offset, known.newest_us, known.position = seen.offset, seen.time_us, position
        self.counts.observations += 1
        accepted = track.names_of(seen.selections)
        inside = frozenset(accepted)
        names = sorted({*known.runs, *accepted})
        for name in names:
            query = track.queries[_query_of(name)]
            kind, since_us = _stepped(known.runs, name, name in inside, seen.time_us, query.dwell_us)
            if kind is not None:
                track.inside[query.id] += 1 if kind == "enter" else -1
            if kind is not None and kind in query.kinds:
                yield self._event(query, name, kind, key=seen.key, known=known, since_us=since_us)

    def _no_observation(self, seen: Observation, known: _Object | None) -> str | None:
        """Return the reason why a record is excluded. Return None if the record is usable. ``known``: the state of the
        record's object, if it has one.
        """
        reason = exclusion_reason(seen, is_planar=self._settings.is_planar)
        if reason is not None:
            return reason
        if known is None:
            return "capacity" if self.held >= self._settings.limit else None
        if known.partition != seen.partition:
            return "partition"
        if seen.offset <= known.offset:
            return "unordered"
        return "stale" if seen.time_us is not None and seen.time_us < known.newest_us else None

    # -- time

    def _passed(self, track: _Track, watermark_us: int) -> Iterator[Event]:
        """Yield the lost events that the watermark ``watermark_us`` causes. Close the runs (states for one query) of
        objects that were not observed for too long. Forget objects after the longest ``lost_after_us`` of the track.
        """
        if watermark_us <= track.watermark_us:
            return
        track.watermark_us = watermark_us
        if watermark_us < track.due_us:
            return
        for key, known in sorted(track.objects.items()):
            yield from self._lost(track, key, known)
            if watermark_us >= known.newest_us + track.longest_us:
                del track.objects[key]
        track.due_us = min(map(track.due_of, track.objects.values()), default=LAST_US)

    def _lost(self, track: _Track, key: str, known: _Object) -> Iterator[Event]:
        for name in sorted(known.runs):
            query = track.queries[_query_of(name)]
            if track.watermark_us < known.newest_us + query.lost_after_us:
                continue
            run = known.runs.pop(name)
            if not run.is_inside:
                continue
            track.inside[query.id] -= 1
            if "lost" in query.kinds:
                yield self._event(query, name, "lost", key=key, known=known, since_us=run.since_us)

    # -- events

    def _event(self, query: EventQuery, name: str, kind: Kind, *, key: str, known: _Object, since_us: int) -> Event:
        """Return an event of an object, with the data of its last observation."""
        source = f"{self._settings.source_topic}-{known.partition}-{known.offset}"
        shape = name[len(query.id) + 1 :] or None
        plain = {
            "query": query.id,
            "shape": shape,
            "event": kind,
            "time": time_text(known.newest_us),
            "since": time_text(since_us),
            "position": list(known.position) or None,
            "source": source,
        }
        self.counts.outputs[kind] += 1
        value = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
        return Event(query.topic, key, value, f"{name}:{kind}:{source}", query.id, source, kind)

    # -- the state

    def to_bytes(self) -> bytes:
        """Return the state as bytes, for :meth:`of_bytes`. The numbers of objects inside have a separate member, which
        an earlier version does not read.
        """
        tracks = {
            name: [track.watermark_us, {key: _plain_object(known) for key, known in track.objects.items()}]
            for name, track in self._tracks.items()
        }
        plain = {"form": _FORM, "writer": self._feed.writer, "settings": self._settings.plain(), "tracks": tracks}
        plain["inside"] = {name: _plain_counts(track) for name, track in self._tracks.items()}
        return json.dumps(plain, separators=(",", ":")).encode()

    @staticmethod
    def of_bytes(content: bytes) -> Bucket:
        """Return the bucket that :meth:`to_bytes` wrote, in this form or the preceding form. Raise FeedFormError for
        any other form.
        """
        plain: dict[str, Any] = json.loads(content)
        form, plain_settings = plain.get("form"), plain["settings"]
        if form == 1:
            plain_settings = settings_of_form_1(plain_settings, OP)
        elif form != _FORM:
            raise FeedFormError("form of the state of events", form, f"run the version that wrote it: {_FORM} is known")
        bucket = Bucket()
        # States from before the first claim have none.
        bucket._feed.writer = plain.get("writer")
        bucket._set(Settings.of_plain(OP, plain_settings))
        for name, (watermark_us, objects) in plain["tracks"].items():
            track = bucket._tracks[name]
            track.watermark_us = watermark_us if is_watermark(watermark_us) else FIRST_US
            track.objects = {key: _object_of(found) for key, found in objects.items()}
            if "inside" in plain:
                track.inside = Counter(plain["inside"][name])
            else:  # An earlier version wrote the state.
                track.count_inside()
        return bucket


def _stepped(
    runs: dict[str, _Run], name: str, is_accepted: bool, time_us: int, dwell_us: int
) -> tuple[Kind | None, int]:
    """Apply an observation to the run ``name`` of an object. Return the type of the resulting event, or None if there
    is no event. Also return the time since which the run has had its ``is_accepted``.
    """
    run = runs.get(name)
    if run is None:
        run = runs[name] = _Run(is_inside=False, is_accepted=True, since_us=time_us)
    elif run.is_accepted != is_accepted:
        run.is_accepted, run.since_us = is_accepted, time_us
    kind = None
    if is_accepted != run.is_inside and time_us - run.since_us >= dwell_us:
        run.is_inside = is_accepted
        kind = "enter" if is_accepted else "exit"
    if not (run.is_inside or run.is_accepted):
        del runs[name]
    return kind, run.since_us


def _query_of(name: str) -> str:
    """Return the id of the query in a name, which is ``query`` or ``query/shape``."""
    return name.partition("/")[0]


def _plain_object(known: _Object) -> list[Any]:
    runs = {name: [run.is_inside, run.is_accepted, run.since_us] for name, run in known.runs.items()}
    return [known.partition, known.offset, known.newest_us, known.position, runs]


def _plain_counts(track: _Track) -> dict[str, int]:
    return {query_id: track.inside[query_id] for query_id in track.queries if track.inside[query_id]}


def _object_of(plain: list[Any]) -> _Object:
    partition, offset, newest_us, position, runs = plain
    return _Object(partition, offset, newest_us, tuple(position), {name: _Run(*run) for name, run in runs.items()})
