"""The choice and the filling of the stored views of a keeper's cubes, apart from batches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace

from asc.operators.cube.view import View
from broker.errors import DamagedPieceError
from broker.operators.cube.batch_time import first_open
from broker.operators.cube.cube_state import CubeId, CubeState
from broker.operators.cube.current_snapshot import CurrentSnapshot
from broker.operators.cube.merging import PaneMerger
from broker.operators.cube.saving import SavedCubes
from broker.operators.cube.snapshot import Snapshot

_FILLED_CELLS = 200_000
"""The cells that one step reads to fill views, unless one pane of a view needs more."""


class ViewFilling:
    """The views of the cubes of a keeper: which ones exist, and their filling from closed panes. Thread-safe.

    A batch extends the views that are complete (see :class:`ViewFolder`). All others are filled here, in steps, so that
    a commit waits for at most one step.
    """

    def __init__(
        self,
        current: CurrentSnapshot,
        saved: SavedCubes,
        lock: threading.RLock,
        merger: Callable[[Snapshot], PaneMerger],
        park_damaged: Callable[[CubeId, int], None],
    ) -> None:
        """Set the collaborators of the keeper. ``lock``: the lock of all changes. ``merger`` returns the rules for the
        pieces of a snapshot. ``park_damaged`` is called with the cube and the number of a damaged piece.
        """
        self._current = current
        self._saved = saved
        self._lock = lock
        self._merger = merger
        self._park_damaged = park_damaged

    def pin(self, cube: CubeId, pins: Collection[View]) -> None:
        """Let the definition of a cube ask for exactly the views ``pins``. Views that are not pinned any more are
        deleted; later calls of :meth:`fill` fill new ones.
        """
        with self._lock:
            before = self._current.sure()
            state = before.cube(cube)
            if {view.view for view in state.views if view.role == "pinned"} == set(pins):
                return
            with self._current.replacing(before) as changed:
                changed[cube] = self.with_pins(state, pins)

    def with_pins(self, state: CubeState, pins: Collection[View]) -> CubeState:
        """Return a cube with exactly the pinned views ``pins``, beside the chosen ones. Write the new views; the caller
        saves the other differences. Call within a transaction.
        """
        views = [view for view in state.views if view.view in pins or view.role == "chosen"]
        kept = [replace(view, role="pinned" if view.view in pins else "chosen") for view in views]
        known = {view.view for view in kept}
        added = [self._saved.views.add(state.number, view, "pinned") for view in pins if view not in known]
        return replace(state, views=(*kept, *added))

    def choose(self, cube: CubeId, views: Collection[View]) -> None:
        """Store exactly the views ``views`` of a cube beside its pinned ones, as chosen by the optimiser. Do nothing if
        the cube does not exist.

        New views begin empty, and later calls of :meth:`fill` fill them, also after a restart.
        """
        with self._lock:
            before = self._current.sure()
            state = before.cubes.get(cube)
            if state is None:
                return
            pinned = {view.view for view in state.views if view.role == "pinned"}
            wanted = [view for view in dict.fromkeys(views) if view not in pinned]
            known = {view.view for view in state.views if view.role == "chosen"}
            if known == set(wanted):
                return
            kept = [view for view in state.views if view.role == "pinned" or view.view in wanted]
            saved = self._saved.views
            with self._current.replacing(before) as changed:
                added = [saved.add(state.number, view, "chosen") for view in wanted if view not in known]
                changed[cube] = replace(state, views=(*kept, *added))

    def fill(self, limit_s: float) -> None:
        """Fill views from closed panes, for at most ``limit_s``.

        If a base piece is damaged, its cube is parked, as by a question.
        """
        until_s = time.monotonic() + limit_s
        has_more = True
        while has_more and time.monotonic() < until_s:
            has_more = self._step()

    def _step(self) -> bool:
        """Fill some panes of the views of one cube. Return whether there may be more to do."""
        with self._lock:
            before = self._current.sure()
            merger = self._merger(before)
            for state in before.cubes.values():
                open_from = first_open(before.marks.get(state.time), before.lateness_us, state.grain_us)
                try:
                    folded = merger.views.after(state, None, open_from, {}, cells_max=_FILLED_CELLS)
                except DamagedPieceError as error:
                    self._park_damaged(state.id, error.number)
                    return True
                if folded.has_changed(state.views):
                    with self._current.replacing(before, replace(state, views=folded.views), added=folded.added):
                        pass
                    return True
            return False
