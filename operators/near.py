"""Pairs: which objects are within a distance of each other, at each tick of event time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.spatial.shape import distance_sphere_m
from operators.events import Figures, time_text, unobserved
from operators.feed import Kind, NearQuery, Observation, Settings, Watermarks, parse
from operators.positions import ROW_SCHEMA, Positions, Snapshot
from operators.proximity import near_pairs

PAIRS_MAX = 1_000_000
"""Pairs of one query at one tick: of a tick that has more nothing is told, but that it is left out."""

_FORM = 1
_NEVER_US = -(2**62)


@dataclass(frozen=True, slots=True)
class PairEvent:
    """What is written for a near query, to ``topic``, with ``key`` (a JSON array of the two objects' keys, the smaller
    first), ``value`` (JSON) and ``identity``, each the same whenever it is told again.

    With a ``condition`` it is told where that holds of what the two carried (``own``), and does not of what they
    carried at the ``other`` tick, where they were near then too.
    """

    topic: str
    key: str
    value: str
    identity: str
    query: str
    source: str
    kind: Kind
    condition: str | None = None
    own: tuple[str | None, str | None] | None = None
    other: tuple[str | None, str | None] | None = None


@dataclass(frozen=True, eq=False)
class _Tick:
    """The objects at a tick, and those of their pairs that are near: int64[pairs, 2] of their places."""

    objects: Snapshot
    pairs: npt.NDArray[np.int64]

    @cached_property
    def named(self) -> dict[tuple[str, str], tuple[int, int]]:
        """The pairs by the keys of their objects, in order."""
        keys = self.objects.keys
        return {(keys[first], keys[second]): (first, second) for first, second in self.pairs.tolist()}

    def carried(self, pair: tuple[int, int]) -> tuple[str | None, str | None]:
        """What the objects of a pair carry."""
        first, second = pair
        return self.objects.carried[first], self.objects.carried[second]


@dataclass(slots=True)
class _Watch:
    """What is known for one query. ``done_us``: of the last tick that is final; ``before``: what that was, for queries
    that are told of changes, None where nothing was near.
    """

    query: NearQuery
    positions: Positions
    done_us: int = _NEVER_US
    before: _Tick | None = None


class Ticks:
    """The near queries whose observations are in one partition of a feed, from whose messages, in order, it makes what
    is told of pairs.

    A tick is final once the watermark is past it; an observation of a tick that is final is late, and left out. For
    each object and the interval up to each tick that is not, the last observation is held, later offset on a tie.
    Invariant: what it holds and tells are a function of the messages alone, however they are cut. Cost: a message a
    microsecond or two; a tick some 8 us an object, and 10 us a pair that is told. Source: spec, pairs; the last
    position of each object as by Spark's ``window`` and ``max_by``.
    """

    def __init__(self, pairs_max: int = PAIRS_MAX) -> None:
        self._pairs_max = pairs_max
        self._settings = Settings("", True, 0, ())
        self._watches: dict[str, _Watch] = {}
        self._by_track: dict[str, list[_Watch]] = {}
        self.figures = Figures()

    @property
    def objects(self) -> int:
        """How many observations are held."""
        return sum(watch.positions.count for watch in self._watches.values())

    def read(self, texts: Iterable[str | bytes]) -> Iterator[PairEvent]:
        """What the next messages make known, by their texts; what is none is counted."""
        seen: list[Observation] = []
        for text in texts:
            try:
                message = parse(text)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                self.figures.left_out["unreadable"] += 1
                continue
            if isinstance(message, Observation):
                seen.append(message)
                continue
            self._take(seen)
            seen = []
            if isinstance(message, Settings):
                self._set(message)
            else:
                yield from self._passed(message)
        self._take(seen)

    # -- settings

    def _set(self, settings: Settings) -> None:
        """Other queries: what is held for those that are gone is forgotten; one that looks in another way, or at other
        ticks, begins anew after those that are final.
        """
        if settings == self._settings:
            return
        self._settings = settings
        before, self._watches = self._watches, {}
        for query in settings.near:
            known = before.get(query.id)
            watch = _Watch(query, Positions(query.every_us)) if known is None else replace(known, query=query)
            if known is not None and (known.query.track, known.query.every_us) != (query.track, query.every_us):
                watch = _Watch(query, Positions(query.every_us), done_us=known.done_us)
            if query.kinds == ("pair",):
                watch.before = None
            self._watches[query.id] = watch
        self._by_track = {}
        for watch in self._watches.values():
            self._by_track.setdefault(watch.query.track, []).append(watch)

    # -- observations

    def _take(self, seen: Sequence[Observation]) -> None:
        """Hold the observations among records in their order."""
        rows: dict[str, list[tuple[Any, ...]]] = {}
        for one in seen:
            watches = [watch for watch in self._by_track.get(one.track, ()) if watch.query.id in one.accepted]
            if not watches:
                continue
            reason = unobserved(one, is_planar=False)
            if reason is not None:
                self.figures.left_out[reason] += 1
                continue
            row = (one.key, one.time_us, one.partition, one.offset, *one.position, one.carried)
            in_time = [watch for watch in watches if one.time_us is not None and one.time_us > watch.done_us]
            self.figures.left_out["late"] += len(watches) - len(in_time)
            for watch in in_time:
                rows.setdefault(watch.query.id, []).append(row)
        for query_id, found in rows.items():
            columns = [pa.array(c, f.type) for c, f in zip(zip(*found, strict=True), ROW_SCHEMA, strict=True)]
            room = self._settings.near_objects_max
            taken = self._watches[query_id].positions.add(pa.table(columns, schema=ROW_SCHEMA), room)
            self.figures.observations += taken
            self.figures.left_out["room"] += len(found) - taken
        self.figures.left_out = +self.figures.left_out

    # -- time

    def _passed(self, watermarks: Watermarks) -> Iterator[PairEvent]:
        for watch in self._watches.values():
            watermark_us = watermarks.by_track.get(watch.query.track)
            if watermark_us is not None:
                yield from self._ticked(watch, watermark_us)

    def _ticked(self, watch: _Watch, watermark_us: int) -> Iterator[PairEvent]:
        """All ticks before a watermark that are not final yet; those at which nobody is there tell of nothing."""
        query = watch.query
        last_us = (watermark_us - 1) // query.every_us * query.every_us
        while watch.done_us < last_us:
            first_us = watch.positions.first_tick_us
            # The last one may have been of other ticks.
            next_us = (watch.done_us // query.every_us + 1) * query.every_us
            if watch.before is None and first_us is not None:
                next_us = max(next_us, first_us)
            if next_us > last_us or (watch.before is None and first_us is None):
                break
            yield from self._tick(watch, next_us)
            watch.done_us = next_us
        watch.done_us = max(watch.done_us, last_us)

    def _tick(self, watch: _Watch, at_us: int) -> Iterator[PairEvent]:
        query = watch.query
        objects = watch.positions.passed(at_us, query.window_us)
        pairs = near_pairs(objects.x, objects.y, query.distance_m, self._pairs_max)
        if pairs is None:
            # What was near before is compared with the next tick that has fewer.
            self.figures.left_out["pairs"] += 1
            return
        now = _Tick(objects, pairs)
        if query.kinds == ("pair",):
            for pair in now.named.values():
                yield self._event(query, "pair", at_us, (now, pair))
            return
        yield from self._changes(query, at_us, watch.before or _Tick(objects, pairs[:0]), now)
        watch.before = now if len(pairs) else None

    def _changes(self, query: NearQuery, at_us: int, before: _Tick, now: _Tick) -> Iterator[PairEvent]:
        """What became near and apart from a tick to the next; with a condition, what may have."""
        for kind, tick, others in (("near", now, before), ("apart", before, now)):
            if kind not in query.kinds:
                continue
            for keys, pair in tick.named.items():
                other = others.named.get(keys)
                if other is None:
                    yield self._event(query, kind, at_us, (tick, pair))
                elif query.condition is not None:
                    yield self._event(query, kind, at_us, (tick, pair), others.carried(other))

    def _event(
        self,
        query: NearQuery,
        kind: Kind,
        at_us: int,
        found: tuple[_Tick, tuple[int, int]],
        other: tuple[str | None, str | None] | None = None,
    ) -> PairEvent:
        """What is told at a tick of a pair, as it was at its own."""
        tick, pair = found
        objects = tick.objects
        keys = [objects.keys[place] for place in pair]
        key = json.dumps(keys, ensure_ascii=False, separators=(",", ":"))
        (x1, y1), (x2, y2) = positions = [[float(objects.x[place]), float(objects.y[place])] for place in pair]
        sources = [f"{self._settings.source_topic}-{p}-{offset}" for p, offset in (objects.places[i] for i in pair)]
        time = time_text(at_us)
        plain = {
            "query": query.id,
            "event": kind,
            "time": time,
            "distance_m": round(distance_sphere_m(x1, y1, x2, y2), 3),
            "keys": keys,
            "times": [time_text(int(objects.time_us[place])) for place in pair],
            "positions": positions,
            "sources": sources,
        }
        value = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
        own = None if query.condition is None else tick.carried(pair)
        return PairEvent(
            query.topic,
            *(key, value, f"{query.id}:{kind}:{time}:{key}"),
            query.id,
            sources[0],
            kind,
            query.condition,
            own,
            other,
        )

    # -- the state

    def to_bytes(self) -> bytes:
        """What it holds, for :meth:`of_bytes`."""
        tables: list[pa.Table] = []
        watches = []
        for watch in self._watches.values():
            tables.append(watch.positions.rows)
            before = None
            if watch.before is not None:
                tables.append(watch.before.objects.rows)
                before = watch.before.pairs.tolist()
            watches.append([watch.query.id, watch.positions.folded, watch.done_us, before])
        plain = {"form": _FORM, "settings": json.loads(self._settings.text())["settings"], "watches": watches}
        parts = [json.dumps(plain, separators=(",", ":")).encode(), *map(_ipc, tables)]
        return b"".join(piece for part in parts for piece in (len(part).to_bytes(8, "big"), part))

    @staticmethod
    def of_bytes(content: bytes, pairs_max: int = PAIRS_MAX) -> Ticks:
        """The ticks that said so; ValueError where they are of another form."""
        parts = _parts(content)
        plain: dict[str, Any] = json.loads(next(parts))
        if plain.get("form") != _FORM:
            raise ValueError(f"the state of pairs is of form {plain.get('form')}, and {_FORM} is known")
        ticks = Ticks(pairs_max)
        ticks._set(Settings.of_plain(plain["settings"]))
        for query_id, folded, done_us, before in plain["watches"]:
            watch = ticks._watches[query_id]
            watch.positions = Positions(watch.query.every_us, _table(next(parts)), folded)
            watch.done_us = done_us
            if before is not None:
                pairs = np.array(before, dtype=np.int64).reshape(-1, 2)
                watch.before = _Tick(Snapshot(_table(next(parts))), pairs)
        return ticks


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _table(content: bytes) -> pa.Table:
    return pa.ipc.open_stream(content).read_all()


def _parts(content: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        size = int.from_bytes(content[at : at + 8], "big")
        yield content[at + 8 : at + 8 + size]
        at += 8 + size
