"""Changes of the cubes of a keeper apart from batches, in steps."""

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
"""A change of a cube: the snapshot and the cube before it, the first open pane, and the folder of views. It returns
whether it has changed the cube.
"""


class StepwiseChanges:
    """Changes of the cubes of a keeper, in steps that each hold its lock. So a commit waits for at most one step.

    ``current``, ``saved``, ``lock``: those of the keeper. Any change of cubes holds the lock.
    """

    def __init__(
        self,
        current: CurrentSnapshot,
        saved: SavedCubes,
        lock: threading.RLock,
        merger: Callable[[Snapshot], PaneMerger],
        park_damaged: Callable[[CubeId, int], None],
    ) -> None:
        """Set the collaborators of the keeper. ``merger`` returns the rules for the pieces of a snapshot.
        ``park_damaged`` is called with the cube and the number of a damaged piece.
        """
        self.current = current
        self.saved = saved
        self.lock = lock
        self._merger = merger
        self._park_damaged = park_damaged

    def repeat(self, step: Callable[[], bool], limit_s: float, pause_s: float = 0.0) -> None:
        """Repeat a step while it returns that there may be more to do, for at most ``limit_s``. ``pause_s``: the pause
        after each step.
        """
        until_s = time.monotonic() + limit_s
        has_more = True
        while has_more and time.monotonic() < until_s:
            has_more = step()
            if has_more and pause_s:
                time.sleep(pause_s)

    def step(self, change: Change) -> bool:
        """Apply a change to the first cube that it changes. Return whether there may be more to do.

        If the change finds that a piece is damaged, its cube is parked, as by a question.
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
