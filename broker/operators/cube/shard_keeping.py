"""The shards of a keeper's cubes: their load at each check, and their changes between two batches."""

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
    """The shards of the cubes of a keeper. Thread-safe.

    One transaction changes the shards of a cube, with the pieces of its open panes. So after a crash a cube has its
    former shards or its new ones, and each record once. The loads, and the checks that a load has lasted, are only in
    memory: a start begins anew.
    """

    def __init__(
        self,
        changes: StepwiseChanges,
        merger: Callable[[Snapshot], PaneMerger],
        keep: Callable[[Merged, CubeState], None],
        park_damaged: Callable[[CubeId, int], None],
        most: int,
    ) -> None:
        """Set the collaborators of the keeper. ``merger`` returns the rules for the pieces of a snapshot. ``keep`` is
        called with the changed pieces after a change, to keep their cells in memory. ``park_damaged`` is called with
        the cube and the number of a damaged piece. ``most``: the most shards of a cube.

        The attribute ``threads`` has the threads that fold shards, as many as the host has cores. They start when a
        shard is folded for the first time.
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
        """Receive the time for which each shard was folded in a batch. Call this under the keeper's lock."""
        for cube, by_shard in seconds.items():
            noted = self._seconds.setdefault(cube, {})
            for shard, taken_s in by_shard.items():
                noted[shard] = noted.get(shard, 0.0) + taken_s

    def check_if_due(self, lag: int | None, now_s: float | None = None) -> None:
        """Check the load of all shards, if the last check is CHECKED_S ago. Split or merge shards by the rule.

        ``lag``: the records that the stream has not read yet; None if it is unknown. ``now_s``: by default that of the
        monotonic clock. If a piece is damaged, its cube is parked, as by a question. Raise CubeStoreError.
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
        """Let a cube have other shards, in one transaction with the pieces of its open panes. Return whether it has
        them. Do nothing if the cube is gone, or has other shards than ``former``.

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
            # Added before the deletion: a reader that does not find pieces in the file looks for them here.
            before.succeed(divided.gone)
            with changes.current.replacing(before, after, added=divided.added):
                changes.saved.delete_pieces(divided.gone)
            self._keep(divided, after)
        names = " ".join(map(shard_name, wanted.numbers))
        LOG.info("cube %s has %d shards now: %s", cube.query, len(wanted), names)
        return True

    def status(self, state: CubeState) -> list[dict[str, Any]]:
        """Return the shards of a cube in the order of their places, with their sizes and the load of the last check.

        ``cells`` and ``bytes`` are those of the pieces of exactly this shard; pieces from before a change may have
        others. Cost: a pass over the pieces, if there are several shards.
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
        """End the threads. Nothing may be folded afterwards."""
        self.threads.shutdown()


def pane_cells(snapshot: Snapshot, state: CubeState, layout: Layout, most: int = SPLIT_CELLS) -> dict[int, int]:
    """Return the cells that each shard has in a pane: the newest closed pane, or an open one that has more.

    Several pieces of an open pane may have the same cells. Their different cells are counted if this decides whether a
    shard has more than ``most``. Otherwise the largest piece counts. In closed panes, pieces of other shards count by
    their expected part. Raise DamagedPieceError. Cost: a pass over the pieces of open panes, without their cells unless
    these are counted.
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
    """Return the cells and the bytes of the pieces of each shard, without views and bands."""
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
