"""The time of the last complete run of the optimiser over the cubes of a store."""

from __future__ import annotations

from broker.operators.cube.store import Store

_NAME = "optimised_s"
"""The name of the row in the table ``stream``."""


class LastRun:
    """The time at which the last complete run of the optimiser began, in a store. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self) -> int | None:
        """Return the time in seconds since the epoch. Return None if none is stored. Raise CubeStoreError."""
        rows = self._store.execute("SELECT value FROM stream WHERE name = ?", (_NAME,))
        return int(rows[0][0]) if rows else None

    def write(self, began_s: float) -> None:
        """Store the time at which a complete run began, in seconds since the epoch. Raise CubeStoreError."""
        with self._store.transaction():
            row = _NAME, int(began_s)
            self._store.execute("INSERT OR REPLACE INTO stream (name, value) VALUES (?, ?)", row)
