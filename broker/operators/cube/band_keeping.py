"""The bands of a keeper's cubes: their definitions, and the ageing of panes apart from batches."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from asc.operators.cube.keep import Band
from asc.operators.cube.view import View
from broker.errors import DamagedPieceError
from broker.operators.cube.ageing import aged, with_bands
from broker.operators.cube.batch_time import first_open
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.current_snapshot import CurrentSnapshot
from broker.operators.cube.merging import PaneMerger
from broker.operators.cube.saving import SavedCubes
from broker.operators.cube.snapshot import Snapshot
from broker.operators.cube.store import Store

LOG = logging.getLogger("asc.cubes")

_PURGED_AT_ONCE = 20
"""The most pieces that one transaction deletes, so that a reader waits for some 5 ms."""
_PAUSE_S = 0.004
"""The pause after each step. Without it, the thread that ages takes the store's lock again before a waiting reader
does, and the reader waits until all panes have aged.
"""


class BandKeeping:
    """The bands of the cubes of a keeper. Thread-safe.

    Invariant: each pane is in the base pieces, or in exactly one band, or deleted for its age. One transaction moves a
    pane. The rows of the pieces that it leaves are deleted later, in portions, and nothing reads them any more.
    """

    def __init__(
        self,
        current: CurrentSnapshot,
        saved: SavedCubes,
        lock: threading.RLock,
        merger: Callable[[Snapshot], PaneMerger],
        park_damaged: Callable[[CubeId, int], None],
        *,
        store: Store,
    ) -> None:
        """Set the collaborators of the keeper, as :class:`ViewFilling` does."""
        self._current = current
        self._store = store
        self._saved = saved
        self._lock = lock
        self._merger = merger
        self._park_damaged = park_damaged
        self._bands: dict[CubeId, tuple[Band, ...]] = {}

    def define(self, cube: CubeId, bands: Sequence[Band]) -> None:
        """Let the panes of a cube age by these bands, finest first. Without bands, no pane ages any more.

        Stored bands with panes stay. If the panes of a stored band fit no order with the wanted bands, the cube keeps
        its bands and no pane ages.
        """
        with self._lock:
            before = self._current.sure()
            state = before.cube(cube)
            wanted = with_bands(state.bands, bands[1:])
            is_new = self._bands.get(cube) != tuple(bands)
            self._bands[cube] = tuple(bands)
            if wanted is None and is_new:
                LOG.warning(
                    "the bands of cube %s are kept, as older panes are stored in others that the new ones cannot be "
                    "computed from: no pane ages",
                    cube.query,
                )
            if wanted is None or wanted == list(state.bands):
                return
            with self._current.replacing(before) as changed:
                end: int | None = None
                stored = []
                for band in reversed(wanted):
                    if isinstance(band, View):
                        # It begins without panes, where the next band ends.
                        filled_to = None if end is None else end // band.panes
                        stored.append(self._saved.views.add(state.number, band, "band", filled_to))
                    else:
                        stored.append(band)
                    end = stored[-1].end
                changed[cube] = replace(state, bands=tuple(reversed(stored)))

    def age(self, limit_s: float) -> None:
        """Let panes age, and delete the rows of those that are not kept, for at most ``limit_s``.

        A concurrent commit waits for at most one step. If a piece is damaged, its cube is parked, as by a question.
        """
        until_s = time.monotonic() + limit_s
        has_more = True
        while has_more and time.monotonic() < until_s:
            has_more = self._step() or self._purge()
            if has_more:
                time.sleep(_PAUSE_S)

    def _step(self) -> bool:
        """Let some panes of one cube age. Return whether there may be more to do."""
        with self._lock:
            before = self._current.sure()
            folder = self._merger(before).views
            for state in before.cubes.values():
                open_from = first_open(before.marks.get(state.time), before.lateness_us, state.grain_us)
                bands = self._bands.get(state.id, ())
                if with_bands(state.bands, bands[1:]) is None:
                    continue
                try:
                    step = aged(state, bands, open_from, folder)
                except DamagedPieceError as error:
                    self._park_damaged(state.id, error.number)
                    return True
                if step is not None:
                    # A reader of an older snapshot asks again, because it would not find the pieces.
                    before.succeed(dict.fromkeys(piece.number for piece in step.gone))
                    with self._current.replacing(before, step.after, added=step.added):
                        return True
            return False

    def _purge(self) -> bool:
        with self._lock:
            for state in self._current.sure().cubes.values():
                if state.base_from is not None:
                    with self._store.transaction():
                        deleted = self._saved.purge_unkept(state, _PURGED_AT_ONCE)
                    if deleted:
                        return True
            return False
