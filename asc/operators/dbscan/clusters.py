"""The DBSCAN queries of one part of a feed: the computation that turns the messages of the part into output records, in
order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from asc.errors import FeedFormError
from asc.operators.dbscan.caches import LABEL_BYTES, LabelCache, NeighbourCache
from asc.operators.dbscan.dbscan_query import OP, DbscanQuery
from asc.operators.dbscan.evaluation import OnLabels
from asc.operators.dbscan.identity import held_ids_of_bytes
from asc.operators.dbscan.points import Place, Points
from asc.operators.dbscan.progress import QueryProgress
from asc.operators.dbscan.records import DbscanOutput
from asc.operators.dbscan.selections import Selections
from asc.operators.dbscan.track import Track, TrackName
from asc.operators.exclusions import FeedCounts
from asc.operators.feed import Message, Observation, Settings, Watermarks
from asc.operators.feed_claim import ClaimedFeed
from asc.operators.times import LAST_US, is_watermark

_FORM = 2
"""The form (version number) of the state in bytes. For points dropped because of capacity, form 1 has the positions of
the first and the last point, and form 2 the windows that contained the points.
"""

_TIMES_KEPT = 1_000
"""The most time expressions whose watermarks are remembered. If there are more, only the expressions with the latest
watermarks are remembered.
"""

_NEVER_US = -(2**62)


class Clusters:
    """The DBSCAN queries whose observations are in one part of a feed.

    Invariant: state and outputs are a function of the messages alone, however these are split into batches. Between two
    batches the state is that of :meth:`to_bytes`. Caches only change the time that the computation of a window takes.

    ``label_bytes``: the most bytes for the cached labels of the queries' last windows. ``keeps_neighbours``: whether
    the neighbours of points are cached from window to window. ``on_labels`` is called with each window's labels.
    ``docs/dbscan.md`` describes the outputs.
    """

    def __init__(
        self, *, label_bytes: int = LABEL_BYTES, keeps_neighbours: bool = True, on_labels: OnLabels | None = None
    ) -> None:
        self._settings = Settings(OP, "", True, 0, ())
        self._tracks: dict[TrackName, Track] = {}
        self._named: dict[str, list[Track]] = {}
        # By time expression, also if no query uses it now: a query that is added again repeats no windows.
        self._watermarks: dict[str, int] = {}
        self._feed = ClaimedFeed(OP, DbscanQuery.of)
        self._labels = LabelCache(label_bytes)
        self._keeps_neighbours = keeps_neighbours
        self._on_labels = on_labels
        self.counts = FeedCounts()

    def count_anew(self) -> None:
        """Replace the counts of observations, exclusions and outputs by zeros, before the next messages."""
        self.counts = FeedCounts()
        for track in self._tracks.values():
            track.counts = self.counts

    @property
    def cache_bytes(self) -> int:
        """Return the size of all points, ids and caches in bytes."""
        total = self._labels.held_bytes
        for track in self._tracks.values():
            ids = [progress.ids for progress in track.queries.values() if progress.ids is not None]
            total += track.points.nbytes + track.neighbours.nbytes + sum(own.nbytes for own in ids)
        return total

    @property
    def held(self) -> int:
        """Return the number of points that the state holds."""
        return sum(track.points.count for track in self._tracks.values())

    def read(self, texts: Iterable[str | bytes]) -> Iterator[DbscanOutput]:
        """Yield the output records that the next messages cause. Count each text that is no message as excluded."""
        return self.outputs(self._feed.messages(texts, self.counts))

    def outputs(self, messages: Iterable[Message]) -> Iterator[DbscanOutput]:
        """Yield the output records that the next messages cause, in order."""
        for message in messages:
            if isinstance(message, Observation):
                self._take(message)
                continue
            self._hold()
            if isinstance(message, Settings):
                self._set(message)
            else:
                for output in self._passed(message):
                    self.counts.outputs[output.kind] += 1
                    yield output
        self._hold()
        self.counts.latest = {
            progress.query.id: progress.latest for track in self._tracks.values() for progress in track.queries.values()
        }

    def settled(self) -> Iterator[DbscanOutput]:
        """Yield the output records of the full windows that are not final yet, for queries whose windows count points.

        The caller ensures that the feed is at its end, so that no message follows.
        """
        for track in self._tracks.values():
            for output in track.settled(self._settings.source_topic, self._labels, self._on_labels):
                self.counts.outputs[output.kind] += 1
                yield output

    # -- settings

    def _set(self, settings: Settings) -> None:
        """Replace the settings, and remove points that no query needs."""
        if settings == self._settings:
            return
        self._settings = settings
        queries: dict[TrackName, dict[str, DbscanQuery]] = {}
        for given in map(DbscanQuery.of, settings.queries):
            query = given if given.lateness_us is not None else replace(given, lateness_us=settings.lateness_us)
            queries.setdefault(TrackName.of(query), {})[query.id] = query
        before, self._tracks = self._tracks, {}
        for name, own in queries.items():
            track = before.get(name) or self._track(name)
            track.watched_by(own, settings.limit, self._labels)
            self._tracks[name] = track
        for name in before.keys() - queries.keys():
            for gone in before[name].queries.keys() - {query.id for query in settings.queries}:
                self._labels.drop(gone)
        self._name_tracks()

    def _track(self, name: TrackName) -> Track:
        track = Track(name, self._watermarks.get(name.time, _NEVER_US), self.counts)
        track.neighbours = NeighbourCache(is_kept=self._keeps_neighbours)
        return track

    def _name_tracks(self) -> None:
        self._named = {}
        for track in self._tracks.values():
            self._named.setdefault(track.name.name, []).append(track)

    # -- observations and time

    def _take(self, seen: Observation) -> None:
        for track in self._named.get(seen.track, ()):
            reason = track.take(seen)
            if reason is not None:
                self.counts.excluded[reason] += 1

    def _hold(self) -> None:
        for track in self._tracks.values():
            track.hold()
        self.counts.excluded = +self.counts.excluded

    def _passed(self, watermarks: Watermarks) -> Iterator[DbscanOutput]:
        for time, come_us in watermarks.by_time.items():
            bounded_us = min(max(come_us, _NEVER_US), LAST_US)
            self._watermarks[time] = max(bounded_us, self._watermarks.get(time, bounded_us))
        if len(self._watermarks) > _TIMES_KEPT:
            latest = sorted(self._watermarks.items(), key=lambda each: (each[1], each[0]))[-_TIMES_KEPT:]
            self._watermarks = dict(latest)
        for track in self._tracks.values():
            watermark_us = watermarks.by_time.get(track.name.time)
            if watermark_us is not None:
                # After LAST_US no window has a text for its end, and no record moves the watermark to such a time.
                bounded_us = min(max(watermark_us, _NEVER_US), LAST_US)
                yield from track.passed(bounded_us, self._settings.source_topic, self._labels, self._on_labels)

    # -- the state

    def to_bytes(self) -> bytes:
        """Return the state as bytes, for :meth:`of_bytes`."""
        parts: list[bytes] = []
        tracks = []
        for track in self._tracks.values():
            selections, codes = track.selections.kept(track.points.code)
            parts += track.points.with_code(codes).to_bytes()
            queries = []
            for progress in track.queries.values():
                queries.append(progress.plain())
                if progress.ids is not None:
                    parts.append(progress.ids.tobytes())
            own = (track.watermark_us, track.arrived, track.dropped, selections.plain(), queries)
            tracks.append(own)
        plain = {"form": _FORM, "writer": self._feed.writer, "settings": self._settings.plain(), "tracks": tracks}
        plain["watermarks"] = dict(sorted(self._watermarks.items()))
        head = json.dumps(plain, separators=(",", ":")).encode()
        return b"".join(piece for part in (head, *parts) for piece in (len(part).to_bytes(8, "big"), part))

    @staticmethod
    def of_bytes(
        content: bytes,
        *,
        label_bytes: int = LABEL_BYTES,
        keeps_neighbours: bool = True,
        on_labels: OnLabels | None = None,
    ) -> Clusters:
        """Return the queries and their state that :meth:`to_bytes` wrote. Raise FeedFormError if the bytes have an
        unknown form.
        """
        parts = _parts(content)
        plain: dict[str, Any] = json.loads(next(parts))
        form = plain.get("form")
        if form not in (1, _FORM):
            remedy = f"run the version that wrote it: 1 and {_FORM} are known"
            raise FeedFormError("form of the state of DBSCAN queries", form, remedy)
        clusters = Clusters(label_bytes=label_bytes, keeps_neighbours=keeps_neighbours, on_labels=on_labels)
        clusters._feed.writer = plain["writer"]
        watermarks: dict[str, int] = plain["watermarks"]
        clusters._watermarks = {time: time_us for time, time_us in watermarks.items() if is_watermark(time_us)}
        clusters._set(Settings.of_plain(OP, plain["settings"]))
        for track, own in zip(clusters._tracks.values(), plain["tracks"], strict=True):
            watermark_us, arrived, dropped, selections, queries = own
            points = Points.of_bytes(parts, track.name.attributes)
            ids = [None if listed[-1] is None else held_ids_of_bytes(next(parts)) for listed in queries]
            if not is_watermark(watermark_us):
                # An earlier version used a watermark that this version ignores, and made all windows final. The track
                # begins anew.
                continue
            track.watermark_us, track.arrived, track.points = watermark_us, arrived, points
            track.dropped = None if dropped is None else Place(*dropped)
            track.selections = Selections.of_plain(selections)
            for listed, own_ids in zip(queries, ids, strict=True):
                query = track.queries[listed[0]].query
                track.queries[query.id] = QueryProgress.of_plain(query, listed, own_ids, form)
        return clusters


def _parts(content: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        size = int.from_bytes(content[at : at + 8], "big")
        yield content[at + 8 : at + 8 + size]
        at += 8 + size
