"""Changes of the cubes of a keeper between batches, in short steps, such as ageing and the filling of views."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from broker.errors import DamagedPieceError
from broker.operators.cube.batch_time import first_open
from broker.operators.cube.cube_state import CubeId, CubeState
from broker.operators.cube.current_snapshot import CurrentSnapshot
from broker.operators.cube.merging import PaneMerger
from broker.operators.cube.saving import SavedCubes
from broker.operators.cube.snapshot import Snapshot
from broker.operators.cube.view_folding import ViewFolder

Change = Callable[[Snapshot, CubeState, "int | None", ViewFolder], bool]
"""A function that changes a cube. Its arguments are the current snapshot, the cube's state, the first open pane, and
the ViewFolder. It returns whether it has changed the cube.
"""


class StepwiseChanges:
    """The executor of changes of a keeper's cubes in steps. Each step holds the keeper's lock, so that a concurrent
    commit waits for at most one step.

    ``current``, ``saved``, ``lock``: the current snapshot, the store and the lock of the keeper.
    """

    def __init__(
        self,
        current: CurrentSnapshot,
        saved: SavedCubes,
        lock: threading.RLock,
        merger: Callable[[Snapshot], PaneMerger],
        park_damaged: Callable[[CubeId, int], None],
    ) -> None:
        """Set the objects of the keeper. ``merger`` returns the rules by which pieces of a snapshot are merged.
        ``park_damaged`` is called with the cube and the number of a damaged piece.
        """
        self.current = current
        self.saved = saved
        self.lock = lock
        self._merger = merger
        self._park_damaged = park_damaged

    def repeat(self, step: Callable[[], bool], limit_s: float, pause_s: float = 0.0) -> None:
        """Repeat ``step`` while it returns True, which means that more may have to be done, for at most ``limit_s``
        seconds. ``pause_s``: the seconds of pause after each step.
        """
        until_s = time.monotonic() + limit_s
        has_more = True
        while has_more and time.monotonic() < until_s:
            has_more = step()
            if has_more and pause_s:
                time.sleep(pause_s)

    def step(self, change: Change) -> bool:
        """Call ``change`` for one cube after another until it has changed a cube. Return whether a cube was changed.

        If the change finds a damaged piece, the cube of the piece is parked, and counts as changed.
        """
        with self.lock:
            before = self.current.sure()
            folder = self._merger(before).views
            for state in before.cubes.values():
                open_from = first_open(before.marks.get(state.time), before.lateness_us, state.grain_us)
                try:
                    if change(before, state, open_from, folder):
                        return True
                except DamagedPieceError as error:
                    self._park_damaged(state.id, error.number)
                    return True
            return False
