"""What DBSCAN queries are to output for records that come within the lateness: the specification, record by record."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from asc.operators.dbscan import identity
from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.dbscan_query import DbscanQuery
from asc.operators.dbscan.records import DbscanOutput
from asc.operators.dbscan.reference import Cluster, Id, count_windows, evolved, labels, time_windows
from asc.operators.feed import Message, Observation, Settings, Watermarks
from asc.operators.times import time_text

MS = 1_000
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """A record of the track ``t``: its time, values, the selections that accept it, and where it is from."""

    time_us: int
    values: tuple[float, ...]
    selections: tuple[str, ...] = ("s",)
    offset: int = 0
    partition: int = 0
    key: str | None = None

    def message(self) -> Observation:
        place = (self.partition, self.offset, self.selections)
        return Observation("dbscan", "t", self.key, self.time_us, self.values, *place)


def query(name: str = "timed", **fields: Any) -> DbscanQuery:
    """A query over two attributes, by time unless told otherwise."""
    own = {"topic": f"asc.{name}", "track": "t", "time": "ts", "selections": ("s",), "attributes": 2, "eps": 1.0}
    windows = {"is_position": False, "min_samples": 3, "is_timed": True, "window": 20 * MS, "slide": 10 * MS}
    return DbscanQuery(id=name, **{**own, **windows, **fields})


def settings(*queries: DbscanQuery, limit: int = 1_000) -> Settings:
    return Settings("dbscan", "flights", False, limit, tuple(own.settings() for own in queries))


def feed(
    batches: Iterable[Sequence[Record]], lateness_us: int, *queries: DbscanQuery, limit: int = 1_000
) -> list[Message]:
    """The messages of a stream of one partition, and the last watermark after them."""
    messages: list[Message] = [settings(*queries, limit=limit)]
    mark = None
    for batch in batches:
        messages += [record.message() for record in batch]
        if batch:
            newest = max(record.time_us for record in batch)
            mark = newest if mark is None else max(mark, newest)
            messages.append(Watermarks({"ts": mark - lateness_us}))
    return messages


def texts(messages: Iterable[Message]) -> list[str]:
    return [message.text() for message in messages]


def run(messages: Iterable[str], clusters: Clusters | None = None) -> list[DbscanOutput]:
    return list((clusters or Clusters()).read(messages))


def values(outputs: Iterable[DbscanOutput], name: str | None = None) -> list[Json]:
    return [json.loads(own.value) for own in outputs if name in (None, own.query)]


def expected(records: Sequence[Record], own: DbscanQuery, watermark: int) -> Iterator[Json]:
    """Yield the values that a query outputs for records in the order in which they came, up to a watermark."""
    accepted = [record for record in records if not {*record.selections}.isdisjoint(own.selections)]
    points = sorted(accepted, key=lambda record: (record.time_us, record.partition, record.offset))
    times = np.array([point.time_us for point in points], dtype=np.int64)
    if own.is_timed:
        windows = time_windows(times, own.window, own.slide, watermark)
    else:
        windows = count_windows(int((times < watermark).sum()), own.window, own.slide)
    old: dict[Id, Cluster] = {}
    for begin, end, places in windows:
        partial = own.is_timed and begin < accepted[0].time_us + (own.lateness_us or 0)
        window = _Window(own, begin, end, {place: points[place] for place in places.tolist()}, old)
        yield from window.clusters()
        yield from window.members()
        yield window.record(partial)
        has_held_ids = len(window.new) <= identity.IDS_HELD_MAX
        old = {window.ids[label]: cluster for label, cluster in window.new.items()} if has_held_ids else {}


def text(own: Id) -> str:
    return f"{own[0]}-{own[1]}"


class _Window:
    """A window of a query: its points by their place in the order, and the clusters of the window before."""

    def __init__(
        self, own: DbscanQuery, begin: int, end: int, points: Mapping[int, Record], old: Mapping[Id, Cluster]
    ) -> None:
        self.own, self.points, self.old = own, points, old
        space = np.array([point.values for point in points.values()]).reshape(len(points), own.attributes)
        found, core = labels(space, own.radius, own.min_samples)
        self.labels = dict(zip(points, found.tolist(), strict=True))
        self.core = {place for place, is_core in zip(points, core.tolist(), strict=True) if is_core}
        self.new: dict[int, Cluster] = {}
        for label in range(found.max(initial=-1) + 1):
            members = frozenset(place for place in points if self.labels[place] == label)
            self.new[label] = Cluster(members, members & self.core)
        self.ids, self.related = evolved(old, self.new, end // MS if own.is_timed else end)
        bounds = [time_text(begin), time_text(end)] if own.is_timed else [begin, end]
        self.head: Json = {"query": own.id, "window": bounds}

    def clusters(self) -> Iterator[Json]:
        for label, cluster in self.new.items():
            columns = list(zip(*(self.points[place].values for place in sorted(cluster.points)), strict=True))
            yield {
                **self.head,
                "record": "cluster",
                "cluster": text(self.ids[label]),
                "label": label,
                "points": len(cluster.points),
                "core": len(cluster.core),
                "center": [sum(column) / len(column) for column in columns],
                "box": [list(map(min, columns)), list(map(max, columns))],
                "events": self._events(label),
                "from": list(map(text, self.related[label])),
            }

    def _events(self, label: int) -> list[str]:
        origins = self.related[label]
        heirs = {before: [each for each in self.new if before in self.related[each]] for before in origins}
        events = [] if origins else ["appear"]
        if len(origins) > 1:
            events.append("merge")
        if any(len(own) > 1 for own in heirs.values()):
            events.append("split")
        if len(origins) == 1 and heirs[origins[0]] == [label]:
            more = len(self.new[label].points) - len(self.old[origins[0]].points)
            events += ["grow"] if more > 0 else ["shrink"] if more < 0 else []
        return events

    def members(self) -> Iterator[Json]:
        before = {place: name for name, cluster in self.old.items() for place in cluster.points}
        for place, point in self.points.items():
            label = self.labels[place]
            name = self.ids.get(label)
            if {"none": False, "all": label >= 0, "changes": name != before.get(place)}[self.own.members]:
                yield {
                    **self.head,
                    "record": "member",
                    "source": f"flights-{point.partition}-{point.offset}",
                    "key": point.key,
                    "cluster": None if name is None else text(name),
                    "label": label,
                    "role": "core" if place in self.core else "border" if label >= 0 else "noise",
                }

    def record(self, partial: bool) -> Json:
        own, count = self.own, len(self.points)
        noise = sum(label < 0 for label in self.labels.values())
        sample = [[*point.values, self.labels[place]] for place, point in self.points.items()]
        joined = {name: {self.labels.get(place, -1) for place in own.points} - {-1} for name, own in self.old.items()}
        return {
            **self.head,
            "record": "window",
            "partial": partial,
            "clusters": len(self.new),
            "points": count,
            "core": len(self.core),
            "border": count - noise - len(self.core),
            "noise": noise,
            "disappeared": {
                text(name): list(map(text, sorted(self.ids[label] for label in joined[name])))
                for name in sorted(self.old)
                if name not in self.ids.values()
            },
            "sample": sample[:: max(1, -(-count // own.sample))] if own.sample else [],
        }
