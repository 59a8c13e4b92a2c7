"""Output records of a window: one record for each cluster, then the members, then one record for the window."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.dbscan_query import DbscanQuery
from asc.operators.dbscan.identity import Evolution, Id
from asc.operators.dbscan.points import Codes, Flags, Floats, Ints, Place, Points
from asc.operators.dbscan.sphere import position_of, unit_vectors, west_and_east
from asc.operators.dbscan.window_kernels import summarise
from asc.operators.times import FIRST_US, time_text

_MS_US = 1_000

IDS_MAX = 10_000
"""The most ids that a window record lists in ``disappeared``, so that it does not exceed the size that a topic accepts.
A cluster lists no more ids in ``from``, because at most IDS_HELD_MAX are held.
"""


class DbscanOutput(NamedTuple):
    """An output of a DBSCAN query.

    The output goes to ``topic``, with ``key`` (the id of the query), ``value`` (JSON) and ``identity``. These are the
    same whenever the output is written again. ``source``: the name of the record (topic, partition and offset) of the
    newest point that the output is about; empty if there is none.
    """

    topic: str
    key: str
    value: str
    identity: str
    query: str
    source: str
    kind: str


@dataclass(frozen=True, slots=True)
class WindowName:
    """The two forms in which output records name a window. ``bounds``: the bounds of the window as JSON. ``end``: the
    end of the window as the ids of clusters contain it.
    """

    bounds: str
    end: int

    @staticmethod
    def of(query: DbscanQuery, number: int) -> WindowName:
        """Return the name of the query's window with a number. For windows by time, the bounds are times, and the end
        is in milliseconds. Otherwise the bounds are the numbers of the first and the last point, and the end is the
        last point's number.

        >>> query = DbscanQuery("dense", "asc.dense", "t", "e", ("s",), 2, False, 0.05, 5, False, 100, 10)
        >>> WindowName.of(query, 2)
        WindowName(bounds='[21,120]', end=120)
        """
        begin, end = query.schedule.bounds(number)
        if not query.is_timed:
            return WindowName(f"[{begin + 1},{end}]", end)
        # A window may begin before the first time that has a text.
        return WindowName(f'["{time_text(max(begin, FIRST_US))}","{time_text(end)}"]', end // _MS_US)


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Summaries of the clusters of a window, by label.

    A summary has the numbers of points and core points, the centre, the corners of the bounding box (``low``,
    ``high``), and the index of the newest point. For positions, centres and boxes are in degrees.
    """

    sizes: Ints
    core: Ints
    centres: Sequence[Sequence[float]]
    low: Sequence[Sequence[float]]
    high: Sequence[Sequence[float]]
    newest: Ints

    @staticmethod
    def of(now: Labels, values: Floats, *, is_position: bool) -> Summary:
        """Return the summaries of the clusters of a window. ``now``: the labels of the window. ``values``: the values
        of the window's points, in order. ``is_position``: whether these are degrees.
        """
        space = unit_vectors(values) if is_position else values
        totals = _summed(now, space)
        counts, newest, sums, low, high = totals
        if not is_position:
            centres: list[list[float]] = _means(now, values, totals).tolist()
            return Summary(counts[:, 0], counts[:, 1], centres, low.tolist(), high.tolist(), newest)
        _, _, _, low, high = _summed(now, values)
        for label in np.flatnonzero(high[:, 0] - low[:, 0] > 180).tolist():
            low[label, 0], high[label, 0] = west_and_east(values[now.labels == label, 0])
        positions = [position_of(*own) for own in sums.tolist()]
        return Summary(counts[:, 0], counts[:, 1], positions, low.tolist(), high.tolist(), newest)


class _Totals(NamedTuple):
    """The counts, newest point, sums and bounds of the values of each cluster, as :func:`summarise` writes them."""

    counts: Ints
    newest: Ints
    sums: Floats
    low: Floats
    high: Floats


def _summed(now: Labels, values: Floats) -> _Totals:
    clusters, attributes = now.clusters, values.shape[1]
    counts, newest = np.zeros((clusters, 2), dtype=np.int64), np.zeros(clusters, dtype=np.int64)
    sums, low, high = (np.zeros((clusters, attributes)) for _ in range(3))
    summarise(now.labels, now.is_core, np.ascontiguousarray(values), counts, sums, low, high, newest)
    return _Totals(counts, newest, sums, low, high)


def _means(now: Labels, values: Floats, totals: _Totals) -> Floats:
    """Return the mean of the values of each cluster. The means are finite, even if a sum of values is infinite."""
    sizes = totals.counts[:, :1]
    means: Floats = totals.sums / sizes
    is_infinite = np.isinf(means)
    if is_infinite.any():
        # Shares of the largest doubles are rounded, and may add up to more than the largest double.
        shares = _summed(now, values / sizes[now.labels]).sums
        means[is_infinite] = np.clip(shares, totals.low, totals.high)[is_infinite]
    return means


class PointTexts:
    """The texts of points in output records, each computed once for all queries whose records show it.

    Memory: up to three texts for each point and two for each attribute, while the windows due at one moment are
    computed.
    """

    def __init__(self, points: Points, source_topic: str) -> None:
        self.points = points
        self._topic = source_topic
        self._begins: dict[int, str] = {}
        self._sources: dict[int, str] = {}
        self._numbers: dict[float, str] = {}

    def labelled(self, rows: Sequence[int], labels: Sequence[int]) -> str:
        """Return points as the elements of a JSON list, without the list's brackets. Each point is shown by its values
        and its label.
        """
        if not rows:
            return ""
        known = self._begins
        missing = [row for row in rows if row not in known]
        if missing:
            texts = [f"{repr(own)[:-1].replace(' ', '')}," for own in self.points.values[missing].tolist()]
            known.update(zip(missing, texts, strict=True))
        ends = {label: f"{label}]," for label in set(labels)}
        parts = [""] * (2 * len(rows))
        parts[::2] = map(known.__getitem__, rows)
        parts[1::2] = map(ends.__getitem__, labels)
        return "".join(parts)[:-1]

    def source(self, place: Place | None) -> str:
        """Return the name of the record at a position: its topic, partition and offset. Return an empty text for
        None.
        """
        return "" if place is None else f"{self._topic}-{place.partition}-{place.offset}"

    def sources(self, rows: Sequence[int]) -> list[str]:
        """Return the names of the records of points."""
        known = self._sources
        for row in rows:
            if row not in known:
                known[row] = self.source(self.points.place(row))
        return [known[row] for row in rows]

    def lists(self, rows: Sequence[Sequence[float]]) -> list[str]:
        """Return lists of coordinates of points as JSON. Texts are shared, because coordinates repeat."""
        known, lists = self._numbers, []
        for own in rows:
            texts = []
            for value in own:
                text = known.get(value)
                if text is None:
                    text = repr(value)
                    # The two zeros are equal, and their texts are not.
                    if value:
                        known[value] = text
                texts.append(text)
            lists.append(f"[{','.join(texts)}]")
        return lists

    def key(self, row: int) -> str:
        """Return the key of a point as JSON."""
        key = None if self.points.keys is None else self.points.keys[row]
        return "null" if key is None else json.dumps(key, ensure_ascii=False)


@dataclass(frozen=True, slots=True, eq=False)
class WindowRecords:
    """Formatting of the records of one window of a query.

    ``newest``: the newest point of the window; if the window has no point, the newest point before it.
    """

    query: DbscanQuery
    name: WindowName
    texts: PointTexts
    newest: Place | None

    def skipped(self, *, is_partial: bool) -> DbscanOutput:
        """Return the record of a window that was skipped because of capacity: it has too many points, or some of its
        points were dropped. ``is_partial``: whether the window begins before the query's first point.
        """
        return self._window(f'"partial":{_flag(is_partial)},"skipped":"capacity"')

    def outputs(
        self,
        now: Labels,
        rows: Ints,
        evolution: Evolution,
        summary: Summary,
        *,
        old_labels: Codes | None,
        is_partial: bool,
    ) -> Iterator[DbscanOutput]:
        """Yield the records of a window. ``rows``: the indices of the window's points. ``old_labels``: the label of
        each point in the preceding window, -1 for noise and for points that were not in that window. ``old_labels`` is
        None if the window is not compared with the preceding one.
        """
        yield from self._clusters(evolution, rows, summary)
        if self.query.members != "none":
            yield from self._members(now, rows, evolution, old_labels)
        core = int(summary.core.sum())
        border = int(summary.sizes.sum()) - core
        disappeared, more = _disappeared(evolution.disappeared)
        yield self._window(
            f'"partial":{_flag(is_partial)},"clusters":{now.clusters},"points":{len(rows)},"core":{core},'
            f'"border":{border},"noise":{len(rows) - core - border},"disappeared":{{{disappeared}}},{more}'
            f'"sample":[{self._sample(now, rows)}]'
        )

    def _clusters(self, evolution: Evolution, rows: Ints, summary: Summary) -> Iterator[DbscanOutput]:
        head = self._head("cluster")
        newest = rows[summary.newest].tolist()
        texts = [_lists(summary.centres), self.texts.lists(summary.low), self.texts.lists(summary.high)]
        columns = (evolution.ids, summary.sizes.tolist(), summary.core.tolist(), *texts)
        rest = (evolution.events, evolution.origins, self.texts.sources(newest))
        query, topic, begin = self.query.id, self.query.topic, f"{self.query.id}:{self.name.end}:"
        for label, ((end, old), size, core, centre, least, most, events, origins, source) in enumerate(
            zip(*columns, *rest, strict=True)
        ):
            named = f"{end}-{old}"
            value = (
                f'{head},"cluster":"{named}","label":{label},"points":{size},"core":{core},"center":{centre},'
                f'"box":[{least},{most}],"events":{_events(events)},"from":{_origins(origins)}}}'
            )
            yield DbscanOutput(topic, query, value, begin + named, query, source, "cluster")

    def _members(
        self, now: Labels, rows: Ints, evolution: Evolution, old_labels: Codes | None
    ) -> Iterator[DbscanOutput]:
        shown = now.labels >= 0 if self.query.members == "all" else _changed(now, evolution, old_labels)
        head, points = self._head("member"), self.texts.points
        ids = [f'"{id_text(own)}"' for own in evolution.ids]
        places = np.flatnonzero(shown)
        columns = (rows[places], now.labels[places], now.is_core[places])
        for row, label, core in zip(*(own.tolist() for own in columns), strict=True):
            place = points.place(row)
            source = self.texts.source(place)
            named = ids[label] if label >= 0 else "null"
            role = "core" if core else "border" if label >= 0 else "noise"
            value = (
                f'{head},"source":"{source}","key":{self.texts.key(row)},"cluster":{named},"label":{label},'
                f'"role":"{role}"}}'
            )
            yield self._output("member", value, source, place)

    def _window(self, rest: str) -> DbscanOutput:
        return self._output("window", f"{self._head('window')},{rest}}}", None, self.newest)

    def _sample(self, now: Labels, rows: Ints) -> str:
        """Return at most ``sample`` points of the window with their labels. They are every k-th point in order."""
        if not self.query.sample or not len(rows):
            return ""
        every = -(-len(rows) // self.query.sample)
        return self.texts.labelled(rows[::every].tolist(), now.labels[::every].tolist())

    def _head(self, record: str) -> str:
        return f'{{"query":{json.dumps(self.query.id)},"record":"{record}","window":{self.name.bounds}'

    def _output(self, kind: str, value: str, named: str | None, newest: Place | None) -> DbscanOutput:
        query, end = self.query, self.name.end
        identity = f"{query.id}:{end}" if named is None else f"{query.id}:{end}:{named}"
        return DbscanOutput(query.topic, query.id, value, identity, query.id, self.texts.source(newest), kind)


def _changed(now: Labels, evolution: Evolution, old_labels: Codes | None) -> Flags:
    """Return for each point of a window whether its cluster differs from its cluster in the preceding window. If
    ``old_labels`` is None, return for each point whether it is in a cluster.
    """
    if old_labels is None:
        return now.labels >= 0
    # The old label of each cluster; index -1 is noise.
    taken = np.append(evolution.taken, -1)
    changed: Flags = taken[now.labels] != old_labels
    return changed


def id_text(cluster_id: Id) -> str:
    """Return the id of a cluster as the text that output records show.

    >>> id_text((1533100800000, 2))
    '1533100800000-2'
    """
    return f"{cluster_id[0]}-{cluster_id[1]}"


def _disappeared(disappeared: Mapping[Id, Sequence[Id]]) -> tuple[str, str]:
    """Return as JSON the ids of the clusters that no cluster of the window continues, each with the clusters that its
    points joined. Also return a JSON field with the number of ids that are omitted beyond IDS_MAX; empty if none is.
    """
    listed, free_count = list[str](), IDS_MAX
    for old, joined in disappeared.items():
        free_count -= 1 + len(joined)
        if free_count < 0:
            break
        listed.append(f'"{id_text(old)}":[{_ids(joined)}]')
    omitted = len(disappeared) - len(listed)
    return ",".join(listed), f'"disappeared_more":{omitted},' if omitted else ""


def _events(events: Sequence[str]) -> str:
    """Return the events of a cluster, such as ``grow``, as a JSON list. Their names need no escapes."""
    named = '","'.join(events)
    return f'["{named}"]' if events else "[]"


def _origins(origins: Sequence[Id]) -> str:
    """Return as JSON the ids of the preceding window's clusters to which a cluster is related."""
    if len(origins) == 1:
        ((end, label),) = origins
        return f'["{end}-{label}"]'
    return f"[{_ids(origins)}]"


def _ids(ids: Sequence[Id]) -> str:
    return ",".join([f'"{end}-{label}"' for end, label in ids])


def _lists(rows: Sequence[Sequence[float]]) -> list[str]:
    """Return lists of finite numbers as JSON."""
    return [repr(row).replace(" ", "") for row in map(list, rows)]


def _flag(value: bool) -> str:
    return "true" if value else "false"
