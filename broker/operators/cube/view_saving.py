"""Conversion of stored views to rows of the store, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from asc.operators.cube.view import View
from broker.operators.cube.panes import StoredPiece
from broker.operators.cube.store import Store
from broker.operators.cube.stored_view import Role, StoredView


class SavedViews:
    """The reader and writer of the views of cubes in a store. The bytes of pieces are read elsewhere."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def states(self) -> dict[int, tuple[StoredView, ...]]:
        """Return the views and bands by the number of their cube, finest first. Cost: one row
        for each piece of a view.
        """
        removed: dict[int, int] = dict(self._store.execute("SELECT view, until FROM removed_views"))
        pieces: dict[int, list[StoredPiece]] = {}
        columns = "view, number, pane, cells, length(data), crc, is_damaged"
        rows = self._store.execute(f"SELECT {columns} FROM pieces WHERE view > 0 ORDER BY number")
        for of, number, pane, cells, size_bytes, crc, is_damaged in rows:
            if number > removed.get(of, 0):
                piece = StoredPiece(number, pane, cells, size_bytes, crc, bool(is_damaged))
                pieces.setdefault(of, []).append(piece)
        views: dict[int, list[StoredView]] = {}
        columns = "cube, number, cuboid, panes, role, filled_to"
        rows = self._store.execute(f"SELECT {columns} FROM views ORDER BY number")
        for cube, number, cuboid, panes, role, filled_to in rows:
            view = View(tuple(json.loads(cuboid)), panes)
            own = StoredView.of(number, view, role, pieces.get(number, ()), filled_to)
            views.setdefault(cube, []).append(own)
        return {cube: tuple(sorted(several, key=lambda own: own.view.fineness)) for cube, several in views.items()}

    def add(self, cube: int, view: View, role: Role, filled_to: int | None = None) -> StoredView:
        """Write a view without pieces, and return it. Call within a transaction. ``filled_to``: the pane of the view
        before which it is complete.
        """
        values = (cube, json.dumps(view.cuboid), view.panes, role, filled_to)
        sql = "INSERT INTO views (cube, cuboid, panes, role, filled_to) VALUES (?, ?, ?, ?, ?) RETURNING number"
        return StoredView.of(self._store.execute(sql, values)[0][0], view, role, filled_to=filled_to)

    def save(self, before: Sequence[StoredView], after: Sequence[StoredView]) -> None:
        """Write the changed rows of the views of a cube. New views and new pieces are written elsewhere. Call within a
        transaction.

        The pieces of views that are removed or emptied remain in the file until :meth:`Store.purge` deletes them.
        """
        if before is after:
            return
        kept: Mapping[int, StoredView] = {view.number: view for view in after}
        for view in before:
            now = kept.get(view.number)
            if now is None:
                self._store.execute("DELETE FROM views WHERE number = ?", (view.number,))
            elif (now.filled_to, now.role) != (view.filled_to, view.role):
                sql = "UPDATE views SET filled_to = ?, role = ? WHERE number = ?"
                self._store.execute(sql, (now.filled_to, now.role, view.number))
            if now is None or (now.filled_to is None and view.filled_to is not None):
                until = self._store.execute("SELECT coalesce(max(number), 0) FROM pieces")[0][0]
                sql = "INSERT OR REPLACE INTO removed_views (view, until) VALUES (?, ?)"
                self._store.execute(sql, (view.number, until))
