"""The folder of cubes: what workers folded of a batch, handed to the keeper of the stream's cubes."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from asc.operators.cube.cells import Cells
from asc.operators.cube.layout import Layout
from asc.operators.cube.task_fold import CubeFold, CubePartial
from broker.operators.cube.coverage import BatchInterval
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.keeper import Keeper, cubes_path
from broker.operators.cube.merging import CubeLimits
from broker.operators.cube.partial import Partial
from broker.operators.fold_destination import FoldDestination
from broker.operators.folder import FoldBatch, FoldContext

_PREPARED_MAX = 256
"""The layouts that are kept, of destinations of the last plans."""


class CubeFolder:
    """The folder of the cubes of one stream. It opens the keeper with the first commit, or question.

    Invariant: a cube of a committed batch is kept in the generation that its plan has. A cube that is parked in the
    keeper, and comes in a batch in which it did not fail, was registered anew and goes on: what it missed is a gap.
    """

    def __init__(self, stream: FoldContext) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._keeper: Keeper | None = None
        self._layouts: dict[str, Layout] = {}

    @property
    def keeper(self) -> Keeper:
        """Return the keeper, opened; CubeStoreError where its file cannot be."""
        with self._lock:
            if self._keeper is None:
                limits, own = self._stream.limits, self._stream
                self._keeper = Keeper.open(
                    cubes_path(own.checkpoint_dir, own.name),
                    own.attributes,
                    CubeLimits(limits.cube_cells, limits.cube_bytes, limits.cube_panes, limits.cube_query_s),
                    lateness_s=own.lateness_us / 1_000_000,
                    time_zone=own.time_zone,
                )
            return self._keeper

    @property
    def held(self) -> int | None:
        """Return the number of cells in all pieces; None before the keeper is open."""
        keeper = self._keeper
        if keeper is None:
            return None
        return sum(state.panes.cells for state in keeper.snapshot.cubes.values())

    @property
    def watermarks_us(self) -> Mapping[str, int]:
        """Return the watermarks by the time expression of cubes."""
        keeper = self._keeper
        if keeper is None:
            return {}
        snapshot = keeper.snapshot
        return {time: mark - snapshot.lateness_us for time, mark in snapshot.marks.items()}

    def commit(self, batch: FoldBatch) -> Mapping[str, str]:
        """Commit a batch; return the cubes that are not counted from it on, with the reasons."""
        keeper = self.keeper
        partials: dict[CubeId, Partial] = {}
        newest: dict[str, Mapping[int, int]] = {}
        for name, query in batch.queries.items():
            layout, cube = self._layout(query), cube_of(query)
            keeper.define(cube, layout.definition)
            if name not in batch.failed:
                keeper.resume(cube)
            time = layout.definition.time
            assert time is not None
            newest[time] = batch.newest_us.get(query.time, {})
            partials[cube] = _partial(layout, batch, name)
        done = keeper.commit(BatchInterval(batch.topic_id, batch.first, batch.end), partials, newest)
        return {cube.query: reason for cube, reason in done.parked.items() if cube in partials}

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._keeper is not None:
                self._keeper.close()
            self._keeper = None

    def _layout(self, query: FoldDestination) -> Layout:
        text = query.in_plan().definition
        if text not in self._layouts:
            if len(self._layouts) >= _PREPARED_MAX:
                self._layouts.clear()
            self._layouts[text] = CubeFold().prepare(query.definition)
        return self._layouts[text]


def cube_of(query: FoldDestination) -> CubeId:
    """Return the cube of a query in a plan."""
    return CubeId(query.id, str(query.definition["generation"]))


def _partial(layout: Layout, batch: FoldBatch, name: str) -> Partial:
    """Return what a batch is to a cube: nothing, where no record of it is accepted."""
    none = Cells.none(layout)
    if name in batch.failed:
        return Partial(none, {}, failed=batch.failed[name])
    own = batch.partials.get(name)
    if own is None:
        return Partial(none, {})
    found, counts = CubePartial.of_bytes(layout, own.state), own.counts
    return Partial(found.cells, found.records, counts.time, counts.future_timestamp, counts.too_large)
