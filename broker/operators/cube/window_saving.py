"""Conversion of a cube's WindowState to rows of the store, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa

from asc.errors import AscError
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.former_cells import FormerCells
from asc.operators.cube.layout import Layout
from asc.operators.cube.output import Output
from asc.operators.cube.revisions import Position, Unit
from asc.operators.cube.sliding import Sliding
from broker.errors import DamagedFormerCellsError
from broker.operators.cube.store import Rows, Store
from broker.operators.cube.window_state import KeptChange, WindowState

_COLUMNS = "topic, output, begun, written, window, place, skipped, batch, until, is_due, is_behind, count"


class SavedWindows:
    """The reader and writer of window states in a store. A write stores only the differences between two states."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def last_number(self) -> int:
        """Return the largest row number of the stored former cells. Return 0 if there are none."""
        return int(self._store.execute("SELECT coalesce(max(number), 0) FROM former_cells")[0][0])

    def states(self, definitions: Mapping[int, CubeDefinition]) -> dict[int, WindowState]:
        """Return the window state of each cube, by the number of the cube."""
        changes: dict[int, Rows] = {}
        columns = 'cube, number, first, "end", panes, panes_crc, length(data)'
        for cube, *change in self._store.execute(f"SELECT {columns} FROM former_cells ORDER BY number"):
            changes.setdefault(cube, []).append(tuple(change))
        revisions: dict[int, int] = dict(self._store.execute("SELECT cube, count(*) FROM revisions GROUP BY cube"))
        states = {}
        for cube, topic, output, first_window, written, *position, is_due, is_behind, count in self._store.execute(
            f"SELECT cube, {_COLUMNS} FROM windows"
        ):
            windows = _output(output, definitions.get(cube))
            if windows is not None:
                kept = tuple(_change(windows.sliding, own) for own in changes.get(cube, ()))
                state = WindowState(topic, windows, first_window, written, Position(*position), kept, bool(is_due))
                states[cube] = replace(state, is_behind=bool(is_behind), revisions=revisions.get(cube, 0), count=count)
        return states

    def save(
        self, cube: int, before: WindowState | None, after: WindowState | None, definition: CubeDefinition
    ) -> None:
        """Write the differences between two states of the windows of a cube, except former cells. Call within a
        transaction.
        """
        if before is after:
            return
        if after is None or before is None or not after.is_of(before.topic, before.output):
            for table in ("windows", "former_cells", "revisions"):
                self._store.execute(f"DELETE FROM {table} WHERE cube = ?", (cube,))
            before = None
        if after is None:
            return
        at = after.position
        row = (cube, after.topic, json.dumps(after.output.plain(definition)), after.first_window, after.written)
        self._store.execute(
            f"INSERT OR REPLACE INTO windows (cube, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, at.window, at.place, at.skipped, at.batch, at.until, after.is_due, after.is_behind, after.count),
        )
        known = {} if before is None else {own.number: own for own in before.changes}
        kept = {own.number for own in after.changes}
        self._store.execute_all(
            "DELETE FROM former_cells WHERE number = ?", ((own,) for own in known if own not in kept)
        )
        self._store.execute_all(
            "UPDATE former_cells SET first = ? WHERE number = ?",
            ((e.first, e.number) for e in after.changes if e.number in known and known[e.number].first != e.first),
        )

    def add_change(self, cube: int, change: KeptChange, data: bytes) -> None:
        """Write a change of windows by late records. ``data``: its former cells as bytes. Call within a transaction."""
        panes = change.panes.astype("<i8").tobytes()
        self._store.execute(
            'INSERT INTO former_cells (number, cube, first, "end", panes, panes_crc, crc, data) '
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (change.number, cube, change.first, change.end, panes, crc32(panes), crc32(data), data),
        )

    def former_cells(self, layout: Layout, change: KeptChange) -> FormerCells:
        """Return the former cells of a change. Raise DamagedFormerCellsError if the bytes differ from the bytes
        written.
        """
        crc, data = self._store.former_cells(change.number)
        if not change.is_damaged and crc32(data) == crc:
            with suppress(pa.ArrowException, OSError, StopIteration, ValueError):
                return FormerCells.of_bytes(layout, data)
        remedy = "are damaged: their cube is parked"
        raise DamagedFormerCellsError("former cells", change.number, remedy, number=change.number)

    def revision(self, cube: int, window: int, place: int) -> int:
        """Return the number of the last revision of a window. Return 0 if there is none. ``place``: the index of an
        output cuboid.
        """
        sql = "SELECT revision FROM revisions WHERE cube = ? AND window = ? AND place = ?"
        rows = self._store.execute(sql, (cube, window, place))
        return int(rows[0][0]) if rows else 0

    def save_revisions(self, cube: int, raised: Mapping[Unit, int]) -> None:
        """Write the revision numbers ``raised``, by window and cuboid. Call within a transaction."""
        self._store.execute_all(
            "INSERT OR REPLACE INTO revisions (cube, window, place, revision) VALUES (?, ?, ?, ?)",
            ((cube, *unit, revision) for unit, revision in raised.items()),
        )


def _change(sliding: Sliding, row: Sequence[Any]) -> KeptChange:
    number, first, end, panes, panes_crc, data_bytes = row
    if crc32(panes) == panes_crc:
        return KeptChange.of(number, first, end, np.frombuffer(panes, dtype="<i8"), data_bytes)
    # The changed panes are unknown, so the last pane of the first window is used instead. When the writer reads this
    # window, it finds the damage and parks the cube.
    own = KeptChange.of(number, first, end, np.array([sliding.panes(first)[1] - 1]), data_bytes)
    return replace(own, is_damaged=True)


def _output(text: str, definition: CubeDefinition | None) -> Output | None:
    """Return the parsed ``output`` of a cube from its stored text. Return None if the cube does not exist, or if the
    text cannot be parsed.
    """
    try:
        return None if definition is None else Output.parse(json.loads(text), definition)
    except (ValueError, AttributeError, AscError):
        return None
