"""Saving of windows: states of windows as rows of the store."""

from __future__ import annotations

import json
from collections.abc import Mapping

from asc.errors import AscError
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.output import Output
from asc.operators.cube.revisions import Position, Unit
from broker.operators.cube.store import Rows, Store
from broker.operators.cube.window_state import KeptPane, WindowState

_COLUMNS = "topic, output, begun, written, place, skipped, is_due"


class SavedWindows:
    """The windows of the cubes of a store, read as states and written as what differs between two states."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def last_number(self) -> int:
        """Return the largest number of a pane that is kept."""
        return int(self._store.execute("SELECT coalesce(max(number), 0) FROM former_panes")[0][0])

    def states(self, definitions: Mapping[int, CubeDefinition]) -> dict[int, WindowState]:
        """Return the states by the numbers of their cubes."""
        former: dict[int, Rows] = {}
        panes = self._store.execute('SELECT cube, number, pane, first, "end", data FROM former_panes ORDER BY number')
        for cube, *row in panes:
            former.setdefault(cube, []).append(tuple(row))
        found = {}
        for cube, topic, output, begun, written, place, skipped, is_due in self._store.execute(
            f"SELECT cube, {_COLUMNS} FROM windows"
        ):
            own = _output(output, definitions.get(cube))
            if own is not None:
                kept = tuple(KeptPane(*row) for row in former.get(cube, ()))
                found[cube] = WindowState(topic, own, begun, written, Position(place, skipped), kept, bool(is_due))
        return found

    def save(
        self, cube: int, before: WindowState | None, after: WindowState | None, definition: CubeDefinition
    ) -> None:
        """Write what differs between two states of the windows of a cube. Within a transaction."""
        if before is after:
            return
        if after is None or before is None or not after.is_of(before.topic, before.output):
            for table in ("windows", "former_panes", "revisions"):
                self._store.execute(f"DELETE FROM {table} WHERE cube = ?", (cube,))
            before = None
        if after is None:
            return
        row = (cube, after.topic, json.dumps(after.output.plain(definition)), after.begun, after.written)
        self._store.execute(
            f"INSERT OR REPLACE INTO windows (cube, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, after.position.place, after.position.skipped, after.is_due),
        )
        known = {} if before is None else {own.number: own for own in before.former}
        kept = {own.number for own in after.former}
        self._store.execute_all(
            "DELETE FROM former_panes WHERE number = ?", ((own,) for own in known if own not in kept)
        )
        self._store.execute_all(
            'INSERT INTO former_panes (number, cube, pane, first, "end", data) VALUES (?, ?, ?, ?, ?, ?)',
            ((e.number, cube, e.pane, e.first, e.end, e.data) for e in after.former if e.number not in known),
        )
        self._store.execute_all(
            "UPDATE former_panes SET first = ? WHERE number = ?",
            ((e.first, e.number) for e in after.former if e.number in known and known[e.number].first != e.first),
        )

    def revision(self, cube: int, window: int, place: int) -> int:
        """Return the last revision of a window and an output cuboid."""
        sql = "SELECT revision FROM revisions WHERE cube = ? AND window = ? AND place = ?"
        rows = self._store.execute(sql, (cube, window, place))
        return int(rows[0][0]) if rows else 0

    def save_revisions(self, cube: int, raised: Mapping[Unit, int]) -> None:
        """Write revisions. Within a transaction."""
        self._store.execute_all(
            "INSERT OR REPLACE INTO revisions (cube, window, place, revision) VALUES (?, ?, ?, ?)",
            ((cube, *unit, revision) for unit, revision in raised.items()),
        )


def _output(text: str, definition: CubeDefinition | None) -> Output | None:
    """Return an output of a store; None where its cube is not there, or of a form that nobody knows."""
    try:
        return None if definition is None else Output.parse(json.loads(text), definition)
    except (ValueError, AttributeError, AscError):
        return None
