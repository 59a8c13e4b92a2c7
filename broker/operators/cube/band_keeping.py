"""The bands of a keeper's cubes: their definitions, and the ageing of panes in transactions between batches."""

from __future__ import annotations

import logging
from collections.abc import Sequence, Set
from dataclasses import replace

from asc.operators.cube.keep import Band
from asc.operators.cube.view import View
from broker.operators.cube.ageing import aged, with_bands
from broker.operators.cube.band_fit import ageing_problem, unfit
from broker.operators.cube.cube_state import CubeId, CubeState
from broker.operators.cube.snapshot import Snapshot
from broker.operators.cube.stepwise_changes import StepwiseChanges
from broker.operators.cube.store import Store
from broker.operators.cube.view_folding import ViewFolder

LOG = logging.getLogger("asc.cubes")

_PURGED_AT_ONCE = 50
"""The most pieces that one transaction deletes. A concurrent reader so waits for about 5 ms."""
_PAUSE_S = 0.004
"""The pause after each step. During the pause, a waiting reader takes the store's lock. Without the pause, the thread
that ages panes takes the lock again first, and the reader waits until all panes have aged.
"""


class BandKeeping:
    """The bands of the cubes of a keeper. Thread-safe.

    Invariant: each pane is in the base pieces, or in exactly one band, or deleted for its age. One transaction moves a
    pane from a finer band to a coarser one. Nothing reads the pieces of the finer band after that, and their rows are
    deleted later, in several transactions.
    """

    def __init__(self, changes: StepwiseChanges, store: Store) -> None:
        """Set the keeper's component for changes in short steps, and the keeper's store."""
        self._changes = changes
        self._store = store
        self._bands: dict[CubeId, tuple[Band, ...]] = {}
        self._clean: dict[int, tuple[int | None, ...]] = {}

    def define(self, cube: CubeId, bands: Sequence[Band]) -> None:
        """Let the panes of a cube age by these bands, finest first. If ``bands`` is empty, no pane ages.

        Stored bands with panes are kept. If a stored band with panes does not fit the wanted bands (see :func:`unfit`),
        the cube keeps its stored bands and no pane ages.
        """
        with self._changes.lock:
            before = self._changes.current.sure()
            state = before.cube(cube)
            is_new = self._bands.get(cube) != tuple(bands)
            self._bands[cube] = tuple(bands)
            if unfit(state, bands) is not None:
                if is_new:
                    LOG.warning(
                        "the bands of cube %s are kept, as older panes are stored in others that the new ones cannot "
                        "be computed from: no pane ages",
                        cube.query,
                    )
                return
            wanted = with_bands(state.bands, bands[1:])
            if wanted == list(state.bands):
                return
            with self._changes.current.replacing(before) as changed:
                end: int | None = None
                stored = []
                for band in reversed(wanted):
                    if isinstance(band, View):
                        # A new band has no panes. It ends where the next coarser band ends, because the cube has no
                        # finer pieces before that pane.
                        filled_to = None if end is None else end // band.panes
                        stored.append(self._changes.saved.views.add(state.number, band, "band", filled_to))
                    else:
                        stored.append(band)
                    end = stored[-1].end
                changed[cube] = replace(state, bands=tuple(reversed(stored)))

    def retain(self, cubes: Set[CubeId]) -> None:
        """Forget the bands of all other cubes, so that their panes do not age until :meth:`define` is called again.

        After a start, the daemon knows only the bands of served queries. Because bands of other queries are forgotten
        here as well, the deleted panes do not depend on the time of the start.
        """
        with self._changes.lock:
            for cube in self._bands.keys() - cubes:
                del self._bands[cube]

    def problem(self, cube: CubeId) -> str | None:
        """Return the reason why no pane of a cube ages although its definition has bands. Return None if panes age, or
        if the definition has no bands.
        """
        state = self._changes.current.now.cubes.get(cube)
        return None if state is None else ageing_problem(state, self._bands.get(cube, ()))

    def age(self, limit_s: float) -> None:
        """Let panes age, and delete the rows of pieces that are no longer kept, for at most ``limit_s`` seconds.

        A concurrent commit waits for at most one step. If a piece is damaged, the cube is parked, as after a question
        that reads a damaged piece.
        """
        self._changes.repeat(lambda: self._changes.step(self._aged) or self._purge(), limit_s, _PAUSE_S)

    def _aged(self, before: Snapshot, state: CubeState, open_from: int | None, folder: ViewFolder) -> bool:
        """Execute one step of ageing of a cube: see :func:`aged`. Return whether a step was due."""
        bands = self._bands.get(state.id, ())
        step = None if unfit(state, bands) is not None else aged(state, bands, open_from, folder)
        if step is None:
            return False
        # Readers of an older snapshot repeat their question, because these pieces are deleted.
        before.succeed(dict.fromkeys(piece.number for piece in step.gone))
        with self._changes.current.replacing(before, step.after, added=step.added):
            pass
        return True

    def _purge(self) -> bool:
        """Delete some rows of the pieces of a cube that are not kept. Return whether there may be more.

        ``_clean`` contains the first kept panes of each cube whose older rows are all deleted. While these panes are
        the same, the store is not searched. After a start of the daemon, ``_clean`` is empty.
        """
        with self._changes.lock:
            cubes = self._changes.current.sure().cubes.values()
            for state in cubes:
                bounds = state.bounds()
                if state.base_from is None or self._clean.get(state.number) == bounds:
                    continue
                with self._store.transaction():
                    deleted = self._changes.saved.purge_unkept(state, _PURGED_AT_ONCE)
                if deleted < _PURGED_AT_ONCE:
                    self._clean[state.number] = bounds
                if deleted:
                    return True
            self._clean = {state.number: self._clean[state.number] for state in cubes if state.number in self._clean}
            return False
