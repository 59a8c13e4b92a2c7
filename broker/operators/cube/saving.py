"""Conversion of the states of cubes to rows of the store, and back."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from asc.errors import AscError
from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.layout import Layout
from asc.operators.cube.shards import Shards
from asc.operators.event_time import EventTimeProgress
from asc.schema import Schema
from broker.operators.cube.batch_time import Clock, first_open
from broker.operators.cube.coverage import Coverage, Interval, Place
from broker.operators.cube.cube_state import ONE_SHARD, CubeId, CubeState
from broker.operators.cube.gaps import Gap
from broker.operators.cube.new_piece import NewPiece
from broker.operators.cube.panes import Panes, StoredPiece
from broker.operators.cube.store import Rows, Store
from broker.operators.cube.view_saving import SavedViews
from broker.operators.cube.window_saving import SavedWindows

_TYPES = "its records have other types than its pieces: remove the query, and register it again"
_UNREADABLE = CubeDefinition(Dimensions(()), (), time="")
"""The placeholder for the definition of a cube whose stored definition is damaged. Such a cube is parked, and has no
layout.
"""
_GAP = "number, cube, first_us, end_us, reason, newest_us, offsets"
_CUBE = (
    "number, query, generation, definition, types, since, version, watermark_us, batch, parked, stopped, kept_from, "
    "shards"
)
_PIECE = "number, cube, pane, cells, crc, data, is_apart, view, shard"


class SavedCubes:
    """The reader and writer of cubes in a store. It returns cubes as states, and writes only the differences between
    two states.
    """

    def __init__(self, store: Store, schema: Schema, time_zone: str, lateness_us: int) -> None:
        """Set the store that is read and written. ``schema``: the schema of the stream's records. ``time_zone``: the
        time zone of literals and of times without a zone. ``lateness_us``: the allowed lateness in microseconds.
        """
        self._store = store
        self._schema = schema
        self._time_zone = time_zone
        self._lateness_us = lateness_us
        self.windows = SavedWindows(store)
        self.views = SavedViews(store)

    def layout(self, definition: CubeDefinition) -> Layout:
        """Return the layout of a cube over the records of the stream. Raise CubeError if the cube does not fit the
        records.
        """
        return Layout.of(definition, self._schema, self._time_zone)

    def numbers(self) -> Mapping[str, int]:
        """Return the number of the last commit, of the last commit of a batch, of the newest piece, and of the newest
        gap.

        The numbers of deleted pieces of removed views count as well, because a new piece with such a number would be
        deleted.
        """
        found = {"commit": 0, "batch": 0, **dict(self._store.execute("SELECT name, value FROM stream"))}
        for table in ("pieces", "gaps"):
            found[table] = self._store.execute(f"SELECT coalesce(max(number), 0) FROM {table}")[0][0]
        (until,) = self._store.execute("SELECT coalesce(max(until), 0) FROM removed_views")[0]
        return {**found, "pieces": max(found["pieces"], until)}

    def marks(self) -> dict[str, int]:
        """Return the mark of each time expression, in microseconds since the epoch."""
        return dict(self._store.execute("SELECT time, mark_us FROM marks"))

    def cubes(self) -> dict[CubeId, CubeState]:
        """Return all cubes. Cost: one row for each piece, without the bytes of the piece."""
        marks = self.marks()
        rows = self._store.execute(f"SELECT {_CUBE} FROM cubes")
        definitions, damaged = _definitions({row[0]: row[3] for row in rows})
        windows, views = self.windows.states(definitions), self.views.states()
        pieces = _grouped(
            self._store.execute(
                "SELECT cube, number, pane, cells, length(data), crc, is_damaged, shard, is_apart FROM pieces"
                " WHERE view = 0 ORDER BY number"
            )
        )
        coverage = _grouped(
            self._store.execute('SELECT cube, is_missed, topic, partition, first, "end" FROM coverage ORDER BY first')
        )
        gaps = _grouped(
            self._store.execute(
                "SELECT cube, first_us, end_us, reason, number, newest_us, offsets FROM gaps ORDER BY number"
            )
        )
        wanted = {number for (number,) in self._store.execute("SELECT cube FROM backfills")}
        counters = _grouped(self._store.execute("SELECT cube, name, value FROM counters"))
        state_by_id = {}
        for row in rows:
            number, query, generation, _, types, since, version, watermark_us, batch, parked, stopped, *rest = row
            kept_from, shards = rest
            definition = definitions.get(number, _UNREADABLE)
            assert definition.time is not None
            assert definition.grain_us is not None
            open_from = first_open(marks.get(definition.time), self._lateness_us, definition.grain_us)
            sides: tuple[list[StoredPiece], list[StoredPiece]] = ([], [])
            for *piece, is_apart in pieces.get(number, ()):
                sides[is_apart].append(_piece(piece))
            state = CubeState(
                CubeId(query, generation),
                number,
                definition,
                None,
                Panes.of(sides[False], open_from),
                _coverage(each[1:] for each in coverage.get(number, ()) if not each[0]),
                _coverage(each[1:] for each in coverage.get(number, ()) if each[0]),
                tuple(_gap(each) for each in gaps.get(number, ())),
                MappingProxyType(dict(counters.get(number, ()))),
                since,
                version,
                watermark_us,
                batch,
                parked,
                stopped,
                windows.get(number),
                Panes.of(sides[True], open_from),
                number in wanted,
                tuple(view for view in views.get(number, ()) if view.role != "band"),
                tuple(view for view in views.get(number, ()) if view.role == "band"),
                kept_from,
                _shards_of(shards),
            ).without_unkept()
            if number in damaged:
                state_by_id[state.id] = replace(state, parked=state.parked or damaged[number])
            else:
                state_by_id[state.id] = self._with_layout(state, types)
        return state_by_id

    def add(self, cube: CubeId, definition: CubeDefinition, layout: Layout, since: int, version: int) -> CubeState:
        """Write a new, empty cube, and return its state. ``since``: the registration of the query. ``version``: the
        version of the plan. Call within a transaction.
        """
        plain, now_s = json.dumps(definition.plain()), int(time.time())
        values = (cube.query, cube.generation, plain, _types(layout), now_s, since, version)
        columns = "query, generation, definition, types, first_seen_s, since, version"
        places = ", ".join("?" * len(values))
        rows = self._store.execute(f"INSERT INTO cubes ({columns}) VALUES ({places}) RETURNING number", values)
        none: Mapping[str, int] = MappingProxyType({})
        own = (definition, layout, Panes.of((), None), Coverage(), Coverage(), (), none)
        return CubeState(cube, rows[0][0], *own, since, version)

    def save_definition(self, number: int, definition: CubeDefinition) -> None:
        """Replace the stored definition of a cube. Call within a transaction."""
        text = json.dumps(definition.plain())
        self._store.execute("UPDATE cubes SET definition = ? WHERE number = ?", (text, number))

    def save(self, before: CubeState, after: CubeState, added: Iterable[NewPiece], gone: Iterable[int]) -> None:
        """Write the differences between two states of a cube. ``added``: the new pieces. ``gone``: the numbers of the
        pieces to be deleted. Call within a transaction.
        """
        number, store = after.number, self._store
        self.delete_pieces(gone)
        store.execute_all(
            f"INSERT INTO pieces ({_PIECE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (_piece_row(number, own) for own in added),
        )
        self.views.save((*before.views, *before.bands), (*after.views, *after.bands))
        self._save_coverage(number, False, before.coverage, after.coverage)
        self._save_coverage(number, True, before.missed, after.missed)
        kept = {own.number for own in after.gaps}
        store.execute_all(
            "DELETE FROM gaps WHERE number = ?", ((own.number,) for own in before.gaps if own.number not in kept)
        )
        known = set(before.gaps)
        store.execute_all(
            f"INSERT OR REPLACE INTO gaps ({_GAP}) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (_gap_row(number, own) for own in after.gaps if own not in known),
        )
        if before.is_wanted != after.is_wanted:
            wanted = "INSERT OR REPLACE INTO backfills (cube) VALUES (?)"
            store.execute(wanted if after.is_wanted else "DELETE FROM backfills WHERE cube = ?", (number,))
        store.execute_all(
            "INSERT OR REPLACE INTO counters (cube, name, value) VALUES (?, ?, ?)",
            ((number, name, own) for name, own in after.counters.items() if own != before.counters.get(name)),
        )
        self.windows.save(number, before.windows, after.windows, after.definition)
        row = _changing(after)
        if row != _changing(before):
            columns = "watermark_us = ?, batch = ?, parked = ?, stopped = ?, kept_from = ?, shards = ?"
            store.execute(f"UPDATE cubes SET {columns} WHERE number = ?", (*row, number))

    def clocks(self) -> dict[str, Clock]:
        """Return the clock of each time expression."""
        found: dict[str, tuple[dict[int, int | None], dict[Place, int]]] = {}
        rows = self._store.execute('SELECT time, partition, newest_us, topic, "end" FROM newest')
        for name, partition, newest_us, topic, end in rows:
            newest, ends = found.setdefault(name, ({}, {}))
            newest[partition] = newest_us
            if end is not None:
                ends[topic, partition] = end
        marks = self.marks()
        return {name: Clock(EventTimeProgress(marks.get(name), own[0]), own[1]) for name, own in found.items()}

    def save_clocks(self, before: Mapping[str, Clock], after: Mapping[str, Clock]) -> None:
        """Write the differences between clocks, by time expression, except the marks. Call within a transaction."""
        rows = []
        for name, clock in after.items():
            former = _rows_of(before.get(name, Clock()))
            rows += [(name, *own) for own in _rows_of(clock) if own not in former]
        columns = 'time, partition, newest_us, topic, "end"'
        self._store.execute_all(f"INSERT OR REPLACE INTO newest ({columns}) VALUES (?, ?, ?, ?, ?)", rows)

    def save_stream(self, commit: int, batch: int, marks: Mapping[str, int]) -> None:
        """Write the number of the last commit, the commit of the last batch, and marks by time expression. Call within
        a transaction.
        """
        rows = (("commit", commit), ("batch", batch))
        self._store.execute_all("INSERT OR REPLACE INTO stream (name, value) VALUES (?, ?)", rows)
        self._store.execute_all("INSERT OR REPLACE INTO marks (time, mark_us) VALUES (?, ?)", marks.items())

    def delete_pieces(self, numbers: Iterable[int]) -> None:
        """Delete pieces. Call within a transaction."""
        self._store.execute_all("DELETE FROM pieces WHERE number = ?", ((each,) for each in numbers))

    def purge_unkept(self, state: CubeState, most: int) -> int:
        """Delete at most ``most`` pieces that a cube no longer keeps. Return the number of deleted pieces. Call within
        a transaction.

        Cost: a search in an index for each view, and some 0.1 ms for each piece.
        """
        base = "view = 0 AND cube = ? AND pane < ? AND is_apart = "
        unkept: list[tuple[str, int, int | None]] = [
            (f"{base}0", state.number, state.base_from),
            (f"{base}1", state.number, state.kept_from),
            *(("view > 0 AND view = ? AND pane < ?", view.number, pane) for view, pane in state.firsts()),
        ]
        deleted = 0
        for condition, number, pane in unkept:
            if pane is not None and deleted < most:
                sql = f"SELECT number FROM pieces WHERE {condition} LIMIT ?"
                sql = f"DELETE FROM pieces WHERE number IN ({sql}) RETURNING number"
                deleted += len(self._store.execute(sql, (number, pane, most - deleted)))
        return deleted

    def mark_damaged(self, numbers: Iterable[int]) -> None:
        """Mark pieces as damaged. Call within a transaction."""
        self._store.execute_all("UPDATE pieces SET is_damaged = 1 WHERE number = ?", ((each,) for each in numbers))

    def _with_layout(self, state: CubeState, types: str) -> CubeState:
        try:
            layout = self.layout(state.definition)
        except AscError as error:
            other_zone = _other_zone(_zone_of(types), self._time_zone)
            return replace(state, parked=state.parked or other_zone or str(error))
        if _types(layout) != types:
            return replace(state, parked=state.parked or _other_types(types, _types(layout)))
        return replace(state, layout=layout)

    def _save_coverage(self, number: int, is_missed: bool, before: Coverage, after: Coverage) -> None:
        gone, new = [], []
        for place in before.intervals.keys() | after.intervals.keys():
            former, current = before.of(place), after.of(place)
            if former == current:
                continue
            # Skip the equal intervals at the beginning, because batches change only the last intervals.
            pairs = enumerate(zip(former, current, strict=False))
            same = next((n for n, (one, two) in pairs if one != two), min(len(former), len(current)))
            former, current = former[same:], current[same:]
            kept, known = {first for first, _ in current}, set(former)
            gone += [(number, is_missed, *place, first) for first, _ in former if first not in kept]
            new += [(number, is_missed, *place, *each) for each in current if each not in known]
        self._store.execute_all(
            "DELETE FROM coverage WHERE cube = ? AND is_missed = ? AND topic = ? AND partition = ? AND first = ?", gone
        )
        columns = 'cube, is_missed, topic, partition, first, "end"'
        self._store.execute_all(f"INSERT OR REPLACE INTO coverage ({columns}) VALUES (?, ?, ?, ?, ?, ?)", new)


def _definitions(texts: Mapping[int, str]) -> tuple[dict[int, CubeDefinition], dict[int, str]]:
    """Parse the stored texts of definitions, and return the definitions by the number of the cube. The second value
    contains, for each damaged text, the reason why it cannot be read.
    """
    definitions: dict[int, CubeDefinition] = {}
    damaged: dict[int, str] = {}
    for number, text in texts.items():
        try:
            plain = json.loads(text)
            definitions[number] = CubeDefinition.parse({name: own for name, own in plain.items() if name != "name"})
        except (ValueError, AttributeError, AscError) as error:
            detail = f"its definition in the file of cubes is damaged, {error}".splitlines()[0]
            damaged[number] = f"{detail}: resume the query, or register it again"
    return definitions, damaged


def _grouped(rows: Rows) -> dict[int, Rows]:
    """Return rows by the number of their cube. The number is the first column, and is removed from the rows."""
    found: dict[int, Rows] = {}
    for number, *own in rows:
        found.setdefault(number, []).append(tuple(own))
    return found


def _piece(row: Sequence[int]) -> StoredPiece:
    number, pane, cells, size_bytes, crc, is_damaged, shard = row
    return StoredPiece(number, pane, cells, size_bytes, crc, bool(is_damaged), shard)


def _piece_row(cube: int, new: NewPiece) -> tuple[Any, ...]:
    own = new.stored
    return (own.number, cube, own.pane, own.cells, own.crc, new.data, new.is_apart, new.view, own.shard)


def _shards_of(text: str | None) -> Shards:
    """Return the shards of a cube from their stored text. If the text is damaged, return one shard, because no cell
    depends on the shards.
    """
    if text is None:
        return ONE_SHARD
    try:
        return Shards.of([int(number) for number in text.split()])
    except (ValueError, AscError):
        return ONE_SHARD


def _changing(state: CubeState) -> tuple[Any, ...]:
    """Return the columns of a cube's row that a transaction may change."""
    shards = None if len(state.shards) == 1 else " ".join(map(str, state.shards.numbers))
    return (state.watermark_us, state.batch, state.parked, state.stopped, state.kept_from, shards)


def _gap(row: Sequence[Any]) -> Gap:
    first_us, end_us, reason, number, newest_us, offsets = row
    try:
        rows = None if offsets is None else json.loads(offsets)
        known = None if rows is None else tuple((str(t), int(p), int(f), int(e)) for t, p, f, e in rows)
    except (ValueError, TypeError):
        # If the offsets of a gap are damaged, keep the gap with unknown offsets.
        known = None
    return Gap(first_us, end_us, reason, number, newest_us, known)


def _gap_row(cube: int, gap: Gap) -> tuple[Any, ...]:
    offsets = None if gap.offsets is None else json.dumps(gap.offsets)
    return (gap.number, cube, gap.first_us, gap.end_us, gap.reason, gap.newest_us, offsets)


def _coverage(rows: Iterable[tuple[str, int, int, int]]) -> Coverage:
    found: dict[Place, list[Interval]] = {}
    for topic, partition, first, end in rows:
        found.setdefault((topic, partition), []).append((first, end))
    return Coverage().with_all(found)


def _rows_of(clock: Clock) -> set[tuple[int, int | None, str | None, int | None]]:
    topics = {partition: (topic, end) for (topic, partition), end in clock.ends.items()}
    return {(each, time, *topics.get(each, (None, None))) for each, time in clock.progress.newest.items()}


def _types(layout: Layout) -> str:
    """Return the types of the expressions of a cube, and the time zone of its predicates, as text."""
    own = [[operand.sql, str(operand.type)] for operand in layout.operands]
    return json.dumps([layout.time_zone, own])


def _other_types(types: str, now: str) -> str:
    """Return the reason why pieces do not fit the records. ``types``: the :func:`_types` of the pieces. ``now``: the
    :func:`_types` of the records.
    """
    zone_now, own_now = json.loads(now)
    try:
        own = json.loads(types)[1]
    except (ValueError, TypeError, LookupError):
        return _TYPES
    return _TYPES if own != own_now else _other_zone(_zone_of(types), zone_now) or _TYPES


def _zone_of(types: str) -> str | None:
    """Return the time zone in a result of :func:`_types`. Return None if the text is damaged."""
    try:
        return str(json.loads(types)[0])
    except (ValueError, TypeError, LookupError):
        return None


def _other_zone(zone: str | None, now: str) -> str | None:
    """Return the reason why pieces of the time zone ``zone`` do not fit records of the time zone ``now``. Return None
    if both zones are equal, or if ``zone`` is None.
    """
    if zone in (None, now):
        return None
    # The time zone gives literals of WHERE, and times without a zone, their instants. The store has no records, so
    # cells cannot be converted to another time zone.
    remedy = "put it back and resume the query, or remove the query and register it again, which begins empty"
    return f"its cells are of spark.time_zone '{zone}', which is '{now}' now: {remedy}"
