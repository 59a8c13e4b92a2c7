"""A file as the feed of DBSCAN queries: its rows become observations of one partition, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cli.operators.dbscan.file_columns import NO_TIME_US, FileColumns
from cli.operators.dbscan.file_queries import FileQuery

if TYPE_CHECKING:
    from asc.operators.dbscan.evaluation import OnLabels
    from asc.operators.dbscan.records import DbscanOutput
    from asc.operators.feed import Message, Observation, QuerySettings

POINTS_OF_A_WINDOW = 200_000
"""The default of ``limits.stream_dbscan_points``, for files without a configuration."""

_BY_ROW = ""
"""The value that replaces a time expression if the row number is the time."""


@dataclass(frozen=True, slots=True)
class FileTrack:
    """The track of queries with equal expressions: its name, its time expression, its value expressions, and its key
    expression. ``wheres``: the name of the selection of each predicate, by the predicate's text.
    """

    name: str
    time: str
    values: tuple[str, ...]
    key: str | None
    wheres: Mapping[str, str]


def feed(
    queries: Sequence[FileQuery],
    columns: FileColumns,
    *,
    batch: int,
    lateness_us: int,
    take: Callable[[DbscanOutput], None],
    on_labels: OnLabels | None,
    points_max: int = POINTS_OF_A_WINDOW,
) -> Mapping[str, int]:
    """Feed rows to queries batch by batch, and return the number of excluded rows by reason. ``take`` receives each
    output. ``points_max``: the most points of a window. A window with more points is skipped.
    """
    from asc.operators.dbscan.clusters import Clusters
    from asc.operators.feed import Watermarks

    tracks, settings = _tracks(queries, lateness_us, points_max)
    clusters = Clusters(on_labels=on_labels)
    marks: dict[str, int] = {}
    for output in clusters.outputs([settings]):
        take(output)
    for low in range(0, columns.count, batch):
        rows = range(low, min(low + batch, columns.count))
        for output in clusters.outputs(_messages(tracks, columns, rows, marks, lateness_us)):
            take(output)
    for output in clusters.outputs([Watermarks(marks)]):
        take(output)
    for output in clusters.settled():
        take(output)
    return dict(clusters.counts.excluded)


def _tracks(queries: Sequence[FileQuery], lateness_us: int, points_max: int) -> tuple[list[FileTrack], Message]:
    """Return the tracks of queries, and the feed message with the settings of the queries."""
    from asc.operators.feed import Settings

    tracks: dict[tuple[tuple[str, ...], bool, str, str | None], FileTrack] = {}
    selections: dict[str, str] = {}
    settings: list[QuerySettings] = []
    for query in queries:
        own = query.expressions
        time = _BY_ROW if own.time is None else own.time.sql
        values, key = tuple(value.sql for value in own.values), None if own.key is None else own.key.sql
        name = (values, query.definition.position is not None, time, key)
        track = tracks.setdefault(name, FileTrack(f"t{len(tracks)}", time, values, key, {}))
        selection = selections.setdefault(query.where.text, f"s{len(selections)}")
        assert isinstance(track.wheres, dict)
        track.wheres[query.where.text] = selection
        # If the time is the number of the row, rows arrive in order of time, and no lateness is needed.
        late_us = 0 if time == _BY_ROW else lateness_us
        fed = query.definition.query(
            query.id, query.id, track=track.name, time=time, selection=selection, lateness_us=late_us
        )
        settings.append(fed.settings())
    return list(tracks.values()), Settings("dbscan", "rows", False, points_max, tuple(settings))


def _messages(
    tracks: Sequence[FileTrack], columns: FileColumns, rows: range, marks: dict[str, int], lateness_us: int
) -> Iterator[Message]:
    """Yield the messages of a batch of rows, followed by the watermarks. Advance ``marks``, the newest time by time
    expression.
    """
    from asc.operators.feed import Watermarks

    for track in tracks:
        yield from _observations(track, columns, rows)
    for time in {track.time for track in tracks}:
        newest_us = rows[-1] if time == _BY_ROW else _newest_us(columns.times[time][rows.start : rows.stop])
        if newest_us is not None:
            marks[time] = max(newest_us, marks.get(time, newest_us))
    yield Watermarks({time: mark - (0 if time == _BY_ROW else lateness_us) for time, mark in marks.items()})


def _observations(track: FileTrack, columns: FileColumns, rows: range) -> Iterator[Observation]:
    from asc.operators.feed import Observation

    part = slice(rows.start, rows.stop)
    accepted = {selection: columns.accepted[where][part] for where, selection in track.wheres.items()}
    places = np.flatnonzero(np.logical_or.reduce(list(accepted.values())))
    names = _selections(accepted, places)
    values = np.column_stack([columns.values[text][part][places] for text in track.values]).tolist()
    times = (part.start + places).tolist()
    if track.time != _BY_ROW:
        times = [None if time == NO_TIME_US else time for time in columns.times[track.time][part][places].tolist()]
    keys: Iterable[str | None] = [None] * len(places)
    if track.key is not None:
        own = columns.keys[track.key]
        keys = [own[part.start + place] for place in places.tolist()]
    found = zip(places.tolist(), names, values, times, keys, strict=True)
    for place, selections, position, time_us, key in found:
        yield Observation("dbscan", track.name, key, time_us, tuple(position), 0, part.start + place, selections)


def _selections(accepted: Mapping[str, npt.NDArray[np.bool_]], places: npt.NDArray[np.int64]) -> list[tuple[str, ...]]:
    """Return for each of the rows ``places`` the selections that accept the row."""
    if len(accepted) == 1:
        return [tuple(accepted)] * len(places)
    found: list[list[str]] = [[] for _ in places]
    for selection, mask in accepted.items():
        for place in np.flatnonzero(mask[places]).tolist():
            found[place].append(selection)
    return list(map(tuple, found))


def _newest_us(times: npt.NDArray[np.int64]) -> int | None:
    """Return the newest usable time. Return None if there is none."""
    from asc.operators.times import FIRST_US, LAST_US

    usable = times[(times >= FIRST_US) & (times <= LAST_US)]
    return int(usable.max()) if len(usable) else None
