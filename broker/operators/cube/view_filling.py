"""The addition, removal and filling of stored views of a keeper's cubes, in transactions between batches."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from asc.operators.cube.view import View
from broker.operators.cube.cube_state import CubeId, CubeState
from broker.operators.cube.snapshot import Snapshot
from broker.operators.cube.stepwise_changes import StepwiseChanges
from broker.operators.cube.view_folding import ViewFolder

_FILLED_CELLS = 200_000
"""The cells that one step reads to fill views. A step for a single pane of a view may read more."""


class ViewFilling:
    """The component that adds, removes and fills the stored views of a keeper's cubes. Thread-safe.

    Batches extend the views that are already complete (see :class:`ViewFolder`). This class fills all other views from
    closed panes, in steps.
    """

    def __init__(self, changes: StepwiseChanges) -> None:
        """Set the keeper's executor of changes in steps."""
        self._changes = changes

    def pin(self, cube: CubeId, pins: Collection[View]) -> None:
        """Replace the pinned views of a cube by ``pins``. Views that are no longer pinned are deleted; later calls of
        :meth:`fill` fill the new views.
        """
        with self._changes.lock:
            before = self._changes.current.sure()
            state = before.cube(cube)
            if {view.view for view in state.views if view.role == "pinned"} == set(pins):
                return
            with self._changes.current.replacing(before) as changed:
                changed[cube] = self.with_pins(state, pins)

    def with_pins(self, state: CubeState, pins: Collection[View]) -> CubeState:
        """Return a cube with the pinned views ``pins`` and its chosen views. Write the rows of new views; the caller
        saves the other differences. Call within a transaction.
        """
        views = [view for view in state.views if view.view in pins or view.role == "chosen"]
        kept = [replace(view, role="pinned" if view.view in pins else "chosen") for view in views]
        known = {view.view for view in kept}
        added = [self._changes.saved.views.add(state.number, view, "pinned") for view in pins if view not in known]
        return replace(state, views=(*kept, *added))

    def choose(self, cube: CubeId, views: Collection[View]) -> None:
        """Replace the chosen views of a cube by ``views``; its pinned views are not changed. Do nothing if the cube
        does not exist.

        New views are empty. Later calls of :meth:`fill` fill them, also after a restart.
        """
        with self._changes.lock:
            before = self._changes.current.sure()
            state = before.cubes.get(cube)
            if state is None:
                return
            pinned = {view.view for view in state.views if view.role == "pinned"}
            wanted = [view for view in dict.fromkeys(views) if view not in pinned]
            known = {view.view for view in state.views if view.role == "chosen"}
            if known == set(wanted):
                return
            kept = [view for view in state.views if view.role == "pinned" or view.view in wanted]
            saved = self._changes.saved.views
            with self._changes.current.replacing(before) as changed:
                added = [saved.add(state.number, view, "chosen") for view in wanted if view not in known]
                changed[cube] = replace(state, views=(*kept, *added))

    def fill(self, limit_s: float) -> None:
        """Fill views from closed panes, for at most ``limit_s`` seconds.

        If a base piece is damaged, its cube is parked.
        """
        self._changes.repeat(lambda: self._changes.step(self._filled), limit_s)

    def _filled(self, before: Snapshot, state: CubeState, open_from: int | None, folder: ViewFolder) -> bool:
        """Fill some panes of the views of a cube. Return whether a view has changed."""
        folded = folder.after(state, None, open_from, {}, cells_max=_FILLED_CELLS)
        if not folded.has_changed(state.views):
            return False
        with self._changes.current.replacing(before, replace(state, views=folded.views), added=folded.added):
            pass
        return True
