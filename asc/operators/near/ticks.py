"""The computation of near queries: the pairs of objects within a distance of each other, at each tick of event time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from asc.errors import FeedFormError
from asc.operators.exclusions import FeedCounts, exclusion_reason
from asc.operators.feed import Observation, Settings, Watermarks
from asc.operators.feed_claim import ClaimedFeed
from asc.operators.feed_form_1 import settings_of_form_1
from asc.operators.near.near_query import OP, NearQuery
from asc.operators.near.pair_tick import (
    PairEvent,
    PairTick,
    pairs_of_bytes,
    pairs_to_bytes,
    table_of_bytes,
    table_to_bytes,
)
from asc.operators.near.positions import ROW_SCHEMA, Positions, Snapshot
from asc.operators.near.proximity import near_pairs
from asc.operators.registration import in_turn
from asc.operators.times import is_watermark, time_text

PAIRS_MAX = 1_000_000
"""The most pairs of one query at one tick. A tick with more pairs is excluded and counted, without output."""

_TIMES_KEPT = 1_000
"""The most time expressions whose watermarks are remembered. If there are more, only the expressions with the latest
watermarks are remembered.
"""

WIDEST_BYTES = 512
"""The most bytes of an object's key and its carried values (those that the condition reads) together. The number is
bounded because all objects of a query are kept in one state.
"""

_Row = tuple[str | float | None, ...]
"""An observation, as a tuple of the columns of ROW_SCHEMA."""

_FORM = 2

_NEVER_US = -(2**62)
"""The earliest watermark in microseconds, which stands for "no watermark yet"; the latest is the same number with the
other sign. The ticks and windows around these two times fit into 64 bits.
"""


@dataclass(slots=True)
class _Watch:
    """The state of one near query.

    ``done_us``: the last tick that is final. ``before``: the pairs at the tick ``done_us`` and their objects, for
    queries that output changes; None if no objects were near each other, or for other queries.
    """

    query: NearQuery
    positions: Positions
    done_us: int = _NEVER_US
    before: PairTick | None = None

    @property
    def next_us(self) -> int:
        """Return the first tick that is not final. (The last final tick may have been a tick of another
        ``every_us``.)
        """
        return (self.done_us // self.query.every_us + 1) * self.query.every_us

    @property
    def figures(self) -> dict[str, int]:
        """Return the figures that the metrics of the query show: the number of observations held."""
        return {"observations": self.positions.count}

    def is_late(self, time_us: int) -> bool:
        """Return whether all ticks to which an observation could belong are final."""
        return time_us <= min(self.done_us, self.next_us - self.query.window_us)


class Ticks:
    """The near queries whose observations are in one partition of a feed. The pairs are computed from the messages, in
    order.

    A tick is final once the watermark is past it. An observation that is only in the windows of final ticks is late,
    and is excluded. For each object and interval between two ticks the last observation is held; at equal times the
    later offset wins. Invariant: state and outputs are a function of the messages alone, however these are split into
    batches.

    Cost: a microsecond or two for each message; at a tick some 4 us for each object, and 6 us for each pair that is
    output. The last position of each object agrees with Spark's ``window`` and ``max_by``.
    """

    def __init__(self, pairs_max: int = PAIRS_MAX) -> None:
        self._pairs_max = pairs_max
        self._settings = Settings(OP, "", True, 0, ())
        self._watches: dict[str, _Watch] = {}
        # The accepted selections of each query.
        self._by_track: dict[str, list[tuple[frozenset[str], _Watch]]] = {}
        # By time expression, also for expressions that no query uses now: a query that is added again repeats no ticks.
        self._watermarks: dict[str, int] = {}
        self._feed = ClaimedFeed(OP, NearQuery.of)
        self.counts = FeedCounts()

    @property
    def held(self) -> int:
        """Return the number of observations that the state holds."""
        return sum(watch.positions.count for watch in self._watches.values())

    def read(self, texts: Iterable[str | bytes]) -> Iterator[PairEvent]:
        """Yield the pairs that the next messages cause. Count each text that is no message as excluded."""
        rows: dict[str, list[_Row]] = {}
        for message in self._feed.messages(texts, self.counts):
            if isinstance(message, Observation):
                self._take(message, rows)
                continue
            self._hold(rows)
            rows = {}
            if isinstance(message, Settings):
                self._set(message)
            else:
                yield from self._passed(message)
        self._hold(rows)
        self.counts.latest = {query_id: watch.figures for query_id, watch in self._watches.items()}

    # -- settings

    def _set(self, settings: Settings) -> None:
        """Replace the queries, and drop the state of the registrations that are gone.

        A query with another track or other ticks begins anew after the ticks that are final.
        """
        if settings == self._settings:
            return
        for each in in_turn(self._settings, settings):
            self._apply(each)

    def _apply(self, settings: Settings) -> None:
        self._settings = settings
        before, self._watches = self._watches, {}
        for query in map(NearQuery.of, settings.queries):
            known = before.get(query.id)
            if known is not None and (known.query.track, known.query.every_us) == (query.track, query.every_us):
                watch = replace(known, query=query)
            else:
                passed_us = _last_tick_us(self._watermarks.get(query.time, _NEVER_US), query)
                done_us = passed_us if known is None else max(passed_us, known.done_us)
                watch = _Watch(query, Positions(query.every_us), done_us=done_us)
            if query.kinds == ("pair",):
                watch.before = None
            self._watches[query.id] = watch
        self._by_track = {}
        for watch in self._watches.values():
            accepted = frozenset(watch.query.selections)
            self._by_track.setdefault(watch.query.track, []).append((accepted, watch))

    # -- observations

    def _take(self, seen: Observation, rows: dict[str, list[_Row]]) -> None:
        """Add an observation to ``rows`` for each query that accepts the record. Count the observation as excluded once
        if it is unusable, otherwise once for each query for which it is late.
        """
        watches = self._watches_of(seen)
        if not watches:
            return
        reason = _exclusion_reason(seen)
        if reason is not None:
            self.counts.excluded[reason] += 1
            return
        row = (seen.key, seen.time_us, seen.partition, seen.offset, *seen.position, seen.carried)
        for watch in watches:
            if seen.time_us is None or watch.is_late(seen.time_us):
                self.counts.excluded["late"] += 1
            else:
                rows.setdefault(watch.query.id, []).append(row)

    def _watches_of(self, seen: Observation) -> list[_Watch]:
        """Return the states of the queries that accept a record and have the same track as the record."""
        watched, selections = self._by_track.get(seen.track, ()), seen.selections
        return [watch for accepted, watch in watched if not accepted.isdisjoint(selections)]

    def _hold(self, rows: Mapping[str, list[_Row]]) -> None:
        """Add the rows of observations to the positions of their queries, in order. Count the added and the excluded
        rows.
        """
        for query_id, found in rows.items():
            columns = [pa.array(c, f.type) for c, f in zip(zip(*found, strict=True), ROW_SCHEMA, strict=True)]
            limit = self._settings.limit
            taken = self._watches[query_id].positions.add(pa.table(columns, schema=ROW_SCHEMA), limit)
            self.counts.observations += taken
            self.counts.excluded["capacity"] += len(found) - taken
        self.counts.excluded = +self.counts.excluded

    # -- time

    def _passed(self, watermarks: Watermarks) -> Iterator[PairEvent]:
        by_time = {time: min(max(come_us, _NEVER_US), -_NEVER_US) for time, come_us in watermarks.by_time.items()}
        for time, come_us in by_time.items():
            self._watermarks[time] = max(come_us, self._watermarks.get(time, come_us))
        if len(self._watermarks) > _TIMES_KEPT:
            latest = sorted(self._watermarks.items(), key=lambda each: (each[1], each[0]))[-_TIMES_KEPT:]
            self._watermarks = dict(latest)
        for watch in self._watches.values():
            watermark_us = by_time.get(watch.query.time)
            if watermark_us is not None:
                yield from self._ticked(watch, watermark_us)

    def _ticked(self, watch: _Watch, watermark_us: int) -> Iterator[PairEvent]:
        """Yield the outputs of the ticks that a watermark makes final. A tick without objects has no output."""
        query = watch.query
        last_us = _last_tick_us(watermark_us, query)
        while watch.done_us < last_us:
            first_us = watch.positions.first_tick_us
            next_us = watch.next_us
            if watch.before is None and first_us is not None:
                next_us = max(next_us, first_us)
            if next_us > last_us or (watch.before is None and first_us is None):
                break
            if watch.before is None and watch.positions.is_of_one:
                # A single object has no pairs, so no tick needs to be computed.
                watch.positions.passed(last_us, query.window_us)
                break
            yield from self._tick(watch, next_us)
            watch.done_us = next_us
        watch.done_us = max(watch.done_us, last_us)

    def _tick(self, watch: _Watch, at_us: int) -> Iterator[PairEvent]:
        query = watch.query
        objects = watch.positions.passed(at_us, query.window_us)
        pairs = near_pairs(objects.x, objects.y, query.distance_m, self._pairs_max)
        if pairs is None:
            # The next tick that does not exceed the bound is compared with the last tick before this one.
            self.counts.excluded["too_many_pairs"] += 1
            return
        now = PairTick(objects, pairs, self._settings.source_topic)
        yield from self._outputs(query, time_text(at_us), watch.before, now)
        if query.kinds != ("pair",):
            watch.before = now.of(pairs) if len(pairs) else None

    def _outputs(self, query: NearQuery, time: str, before: PairTick | None, now: PairTick) -> Iterator[PairEvent]:
        """Yield the outputs of a tick: its pairs, or the pairs that became near or apart since the previous tick.

        If the query has a condition, also yield the pairs that were near at both ticks, because the condition may have
        changed for them.
        """
        if query.kinds == ("pair",):
            yield from now.of(now.pairs).events(query, "pair", time)
            return
        earlier = before or PairTick(now.objects, now.pairs[:0], now.source_topic)
        for kind, tick, other in (("near", now, earlier), ("apart", earlier, now)):
            if kind not in query.kinds:
                continue
            changed, stayed, there = tick.without(other)
            yield from tick.of(changed).events(query, kind, time)
            if query.condition is not None:
                carried = (other.carried(*places) for places in there.tolist())
                yield from tick.of(stayed).events(query, kind, time, carried)

    # -- the state

    def to_bytes(self) -> bytes:
        """Return the state as bytes, for :meth:`of_bytes`."""
        parts: list[bytes] = []
        watches = []
        for watch in self._watches.values():
            before = watch.before
            watches.append([watch.query.id, watch.positions.folded, watch.done_us, before is not None])
            parts.append(table_to_bytes(watch.positions.rows))
            if before is not None:
                parts += [table_to_bytes(before.objects.rows), pairs_to_bytes(before.pairs)]
        plain = {"form": _FORM, "writer": self._feed.writer, "settings": self._settings.plain(), "watches": watches}
        plain["watermarks"] = dict(sorted(self._watermarks.items()))
        head = json.dumps(plain, separators=(",", ":")).encode()
        return b"".join(piece for part in (head, *parts) for piece in (len(part).to_bytes(8, "big"), part))

    @staticmethod
    def of_bytes(content: bytes, pairs_max: int = PAIRS_MAX) -> Ticks:
        """Return the ticks that :meth:`to_bytes` wrote, in this form or the preceding form. Raise FeedFormError for any
        other form.
        """
        parts = _parts(content)
        plain: dict[str, Any] = json.loads(next(parts))
        form, plain_settings = plain.get("form"), plain["settings"]
        if form == 1:
            plain_settings = settings_of_form_1(plain_settings, OP)
        elif form != _FORM:
            raise FeedFormError("form of the state of pairs", form, f"run the version that wrote it: {_FORM} is known")
        ticks = Ticks(pairs_max)
        # States from before the first claim have none.
        ticks._feed.writer = plain.get("writer")
        watermarks: dict[str, int] = plain.get("watermarks", {})
        ticks._watermarks = {time: time_us for time, time_us in watermarks.items() if is_watermark(time_us)}
        ticks._set(Settings.of_plain(OP, plain_settings))
        for query_id, folded, done_us, has_before in plain["watches"]:
            watch = ticks._watches[query_id]
            watch.positions = Positions(watch.query.every_us, table_of_bytes(next(parts)), folded)
            if has_before:
                objects, pairs = Snapshot(table_of_bytes(next(parts))), pairs_of_bytes(next(parts))
                watch.before = PairTick(objects, pairs, ticks._settings.source_topic)
            if is_watermark(watermarks.get(watch.query.time, done_us)):
                watch.done_us = done_us
            else:
                # An earlier version used a watermark that this version ignores, and made all ticks final. The next
                # watermarks decide again.
                watch.before = None
        return ticks


def _exclusion_reason(seen: Observation) -> str | None:
    """Return the reason why a record is excluded from pairs. Return None if it is not excluded."""
    if len((seen.key or "").encode()) + len((seen.carried or "").encode()) > WIDEST_BYTES:
        return "too_large"
    return exclusion_reason(seen, is_planar=False) or (None if len(seen.position) == 2 else "position")


def _last_tick_us(watermark_us: int, query: NearQuery) -> int:
    """Return the last tick before a watermark."""
    return (watermark_us - 1) // query.every_us * query.every_us


def _parts(content: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        size = int.from_bytes(content[at : at + 8], "big")
        yield content[at + 8 : at + 8 + size]
        at += 8 + size
