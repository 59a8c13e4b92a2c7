"""The shards of a keeper's cubes: the regular check of their load, and the division and merging of shards between
batches.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from asc.frozen import frozen
from asc.operators.cube.cell_places import places_of
from asc.operators.cube.layout import Layout
from asc.operators.cube.shard_rule import SPLIT_CELLS, ShardLoad, ShardRule
from asc.operators.cube.shards import Shards, expected, shard_name
from broker.errors import DamagedPieceError
from broker.operators.cube.cube_state import CubeId, CubeState
from broker.operators.cube.merging import Merged, PaneMerger
from broker.operators.cube.panes import sound
from broker.operators.cube.snapshot import Snapshot
from broker.operators.cube.stepwise_changes import StepwiseChanges

LOG = logging.getLogger("asc.cubes")

CHECKED_S = 30.0
"""The seconds between two checks of the load."""

_NONE: Mapping[int, ShardLoad] = MappingProxyType({})


class ShardKeeping:
    """The component that checks and changes the shards of a keeper's cubes. Thread-safe.

    One transaction changes the shards of a cube, with the pieces of its open panes. So after a crash a cube has either
    its former shards or its new shards, and each record is counted once. The loads, and the number of checks for which
    a load has lasted, are only in memory, and are empty after a start.
    """

    def __init__(
        self,
        changes: StepwiseChanges,
        merger: Callable[[Snapshot], PaneMerger],
        keep: Callable[[Merged, CubeState], None],
        park_damaged: Callable[[CubeId, int], None],
        most: int,
    ) -> None:
        """Set the functions of the keeper. ``merger`` returns the rules by which pieces of a snapshot are merged.
        ``keep`` is called with the changed pieces after a change, to cache their cells. ``park_damaged`` is called with
        the cube and the number of a damaged piece. ``most``: the most shards of a cube.

        The attribute ``threads`` is a pool with as many threads as the host has cores; they merge the pieces of shards.
        The threads start at the first merge of shards.
        """
        self._changes = changes
        self._merger = merger
        self._keep = keep
        self._park_damaged = park_damaged
        self._most = most
        self.threads = ThreadPoolExecutor(os.cpu_count() or 1, "asc-shards")
        self._seconds: dict[CubeId, dict[int, float]] = {}
        self._rules: dict[CubeId, ShardRule] = {}
        self._loads: dict[CubeId, Mapping[int, ShardLoad]] = {}
        self._checked_s: float | None = None

    def note(self, seconds: Mapping[CubeId, Mapping[int, float]]) -> None:
        """Add the seconds that the merge of each shard took in a batch, by cube and shard. Call this under the keeper's
        lock.
        """
        for cube, by_shard in seconds.items():
            noted = self._seconds.setdefault(cube, {})
            for shard, taken_s in by_shard.items():
                noted[shard] = noted.get(shard, 0.0) + taken_s

    def check_if_due(self, lag: int | None, now_s: float | None = None) -> None:
        """Check the load of all shards, if the last check is CHECKED_S seconds ago. Split or merge shards as
        :class:`ShardRule` decides.

        ``lag``: the number of records that the stream has not read yet; None if it is unknown. ``now_s``: the time of
        the monotonic clock in seconds; None reads the clock. If a piece is damaged, its cube is parked. Raise
        CubeStoreError.
        """
        now_s = time.monotonic() if now_s is None else now_s
        if self._checked_s is None:
            self._checked_s = now_s
        passed_s = now_s - self._checked_s
        if passed_s < CHECKED_S:
            return
        self._checked_s = now_s
        with self._changes.lock:
            snapshot = self._changes.current.sure()
            cubes = snapshot.cubes
            self._rules = {cube: rule for cube, rule in self._rules.items() if cube in cubes}
            self._loads = {}
            seconds, self._seconds = self._seconds, {}
        for state in cubes.values():
            if state.layout is not None and state.parked is None:
                try:
                    cells = pane_cells(snapshot, state, state.layout)
                except DamagedPieceError as error:
                    self._park_damaged(state.id, error.number)
                    continue
                noted = seconds.get(state.id, {})
                loads = {shard: ShardLoad(own, noted.get(shard, 0.0) / passed_s) for shard, own in cells.items()}
                self._check(state, loads, lag)

    def _check(self, state: CubeState, loads: Mapping[int, ShardLoad], lag: int | None) -> None:
        rule = self._rules.get(state.id, ShardRule())
        self._rules[state.id], wanted = rule.after(state.shards, loads, lag, self._most)
        self._loads[state.id] = loads
        if wanted is not state.shards:
            self.change(state.id, state.shards, wanted)

    def change(self, cube: CubeId, former: Shards, wanted: Shards) -> bool:
        """Replace the shards of a cube, and divide or merge the pieces of its open panes, in one transaction. Return
        whether this was done. Do nothing if the cube no longer exists, or has other shards than ``former``.

        If a piece is damaged, the cube is parked. Raise CubeStoreError if nothing could be written.
        """
        changes = self._changes
        with changes.lock:
            before = changes.current.sure()
            state = before.cubes.get(cube)
            if state is None or state.shards != former:
                return False
            try:
                divided = self._merger(before).divided(state, wanted)
            except DamagedPieceError as error:
                self._park_damaged(cube, error.number)
                return False
            after = replace(divided.kept_by(state), shards=wanted)
            # Add the replaced cells to the former snapshot before the pieces are deleted. A reader that does not find a
            # piece in the file then finds its cells in the snapshot.
            before.succeed(divided.gone)
            with changes.current.replacing(before, after, added=divided.added):
                changes.saved.delete_pieces(divided.gone)
            self._keep(divided, after)
        names = " ".join(map(shard_name, wanted.numbers))
        LOG.info("cube %s has %d shards now: %s", cube.query, len(wanted), names)
        return True

    def status(self, state: CubeState) -> list[dict[str, Any]]:
        """Return the shards of a cube in the order of their places, with their sizes and the load of the last check.

        ``cells`` and ``bytes`` count the pieces that belong exactly to this shard. Older pieces, from before a change
        of shards, may belong to other shards, and are not counted. Cost: a pass over the pieces, if there are several
        shards.
        """
        loads = self._loads.get(state.id, _NONE)
        sizes = _sizes(state)
        shown = []
        for number in state.shards.numbers:
            cells, size_bytes = sizes[number]
            load = loads.get(number)
            shown.append(
                {
                    "shard": shard_name(number),
                    "cells": cells,
                    "bytes": size_bytes,
                    "pane_cells": None if load is None else load.cells,
                    "folding_share": None if load is None else round(load.share, 4),
                }
            )
        return shown

    def close(self) -> None:
        """End the threads. No pieces of shards can be merged afterwards."""
        self.threads.shutdown()


def pane_cells(snapshot: Snapshot, state: CubeState, layout: Layout, most: int = SPLIT_CELLS) -> dict[int, int]:
    """Return for each shard the largest number of its cells in one pane, of the newest closed pane and all open panes.

    Several pieces of an open pane may have cells of the same groups. The distinct cells are counted only if they decide
    whether a shard has more than ``most``. Otherwise the number is that of the largest piece. If a piece belongs to
    another shard, the part of its cells that this shard is expected to have is counted. Raise DamagedPieceError. Cost:
    a pass over the pieces of open panes; their cells are read only to count distinct cells.
    """
    cells = {
        number: sum(expected(piece.cells, piece.shard, number) for piece in state.panes.closed.newest)
        for number in state.shards.numbers
    }
    for pieces in state.panes.open.values():
        held = sound(pieces)
        parts = {number: [expected(own.cells, own.shard, number) for own in held] for number in cells}
        if any(max(own, default=0) <= most < sum(own) for own in parts.values()):
            places = [places_of(snapshot.cells(layout, piece)) for piece in held]
            different = frozen(np.unique(np.concatenate(places)))
            parts = {number: [len(rows)] for number, rows in state.shards.divided(different)}
        for number, own in parts.items():
            cells[number] = max(cells[number], *own, 0)
    return cells


def _sizes(state: CubeState) -> dict[int, tuple[int, int]]:
    """Return the numbers of cells and bytes of the pieces of each shard, without views and bands."""
    sides = (state.panes, state.apart)
    if len(state.shards) == 1:
        return {state.shards.numbers[0]: (sum(own.cells for own in sides), sum(own.size_bytes for own in sides))}
    cells, size_bytes = (dict.fromkeys(state.shards.numbers, 0) for _ in range(2))
    for side in sides:
        for piece in side.pieces():
            if piece.shard in cells:
                cells[piece.shard] += piece.cells
                size_bytes[piece.shard] += piece.size_bytes
    return {number: (own, size_bytes[number]) for number, own in cells.items()}
