"""The keeper of the cubes of a stream. It changes the cubes in one transaction for each batch; questions read
snapshots.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import MappingProxyType

from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.former_cells import FormerCells
from asc.operators.cube.layout import Layout
from asc.operators.cube.output import Output
from asc.operators.cube.revisions import Unit
from asc.operators.cube.view import View
from asc.schema import Schema
from broker.cancellation import Cancellation
from broker.errors import QueryError
from broker.operators.cube.backfilling import Seam
from broker.operators.cube.band_keeping import BandKeeping
from broker.operators.cube.batch_time import first_open
from broker.operators.cube.coverage import BatchInterval, Place
from broker.operators.cube.cube_state import PAUSED, CubeId, CubeState
from broker.operators.cube.cubes_file import copy_former
from broker.operators.cube.current_snapshot import CurrentSnapshot
from broker.operators.cube.demands import Demands
from broker.operators.cube.dump import Dump, Dumps
from broker.operators.cube.last_run import LastRun
from broker.operators.cube.late_cells import LateCells
from broker.operators.cube.merging import CubeLimits, Merged, PaneMerger
from broker.operators.cube.partial import Committed, Newest, Partial, of_bounded_panes
from broker.operators.cube.questions import Questions
from broker.operators.cube.reading import PieceReader
from broker.operators.cube.saving import SavedCubes
from broker.operators.cube.shard_keeping import ShardKeeping
from broker.operators.cube.snapshot import Snapshot
from broker.operators.cube.stepping import BatchSteps, committed
from broker.operators.cube.stepwise_changes import StepwiseChanges
from broker.operators.cube.store import Store
from broker.operators.cube.view_choice import ViewChoice
from broker.operators.cube.view_filling import ViewFilling
from broker.operators.cube.window_state import KeptChange, WindowState

LOG = logging.getLogger("asc.cubes")

KEPT_BYTES = 256 << 20
"""The most bytes of decoded cells that are cached in memory, for all cubes of a stream together."""
_PURGED_AT_ONCE = 200
"""The most pieces of deleted cubes that one transaction deletes."""


class Keeper:
    """The component that stores the cubes of a stream, in memory and in a file. One thread at a time changes cubes; any
    number of threads read them.

    Invariant: the pieces of a cube contain exactly the accepted records that have a time and whose offsets the cube
    covers. One transaction writes both pieces and offsets. A repeated batch is recognised by its offsets, not by its
    number. If a caller of ``commit`` is killed at any point, it may commit the same batch again, and no record is
    counted twice.
    """

    def __init__(
        self, store: Store, saved: SavedCubes, limits: CubeLimits, lateness_us: int, kept_bytes: int = KEPT_BYTES
    ) -> None:
        """Read the cubes of a store. ``kept_bytes``: the most bytes of decoded cells that are cached in memory."""
        self._store = store
        self._saved = saved
        self._limits = limits
        self._lateness_us = lateness_us
        self._reader = PieceReader(kept_bytes)
        self._dumps = Dumps(store)
        self.demands = Demands(store)
        self.last_run = LastRun(store)
        self.questions = Questions(lambda: self.snapshot, self.park_damaged, limits.query_s, self.demands.count)
        self._lock = threading.RLock()
        numbers = saved.numbers()
        self._pieces, self._gaps = count(numbers["pieces"] + 1), count(numbers["gaps"] + 1)
        self._changes = count(saved.windows.last_number() + 1)
        self._current = CurrentSnapshot(store, saved, lateness_us, self._reader)
        changes = StepwiseChanges(self._current, saved, self._lock, self._merger, self.park_damaged)
        self.views = ViewFilling(changes)
        self.choice = ViewChoice(lambda: self.snapshot, self.demands, self.views)
        self.bands = BandKeeping(changes, store)
        self.shards = ShardKeeping(changes, self._merger, self._keep, self.park_damaged, limits.shards)

    @staticmethod
    def open(
        path: Path,
        schema: Schema,
        limits: CubeLimits,
        *,
        lateness_s: float,
        time_zone: str = "UTC",
        read_to: Mapping[Place, int] = MappingProxyType({}),
    ) -> Keeper:
        """Return the keeper of the cubes in a file. If the file is missing, copy the file of the former leader, or
        create an empty one. Raise CubeStoreError if the file cannot be used.

        ``schema``: the schema of the stream's records. ``time_zone``: the time zone of literals and of times without a
        zone. ``lateness_s``: the stream's allowed lateness in seconds. ``read_to``: the offsets up to which the stream
        has committed batches. A cube that ends before these offsets lacks records, because the file was restored from
        an older copy.
        """
        lateness_us = round(lateness_s * 1_000_000)
        copy_former(path)
        store = Store.open(path)
        try:
            keeper = Keeper(store, SavedCubes(store, schema, time_zone, lateness_us), limits, lateness_us)
            keeper._current.note_restored(read_to)
            return keeper
        except BaseException:
            store.close()
            raise

    @property
    def snapshot(self) -> Snapshot:
        """Return the snapshot of all cubes after the last commit."""
        return self._current.now

    def commit(
        self,
        batch: BatchInterval,
        partials: Mapping[CubeId, Partial],
        newest: Newest,
        waiting: Collection[int] = (),
        seam: Seam | None = None,
    ) -> Committed:
        """Commit a batch in one transaction: pieces, offsets, counters, gaps and marks. Then replace the snapshot.

        ``partials``: a partial for each cube of the batch's plan, even if the cube accepts none of the records. Other
        cubes of the keeper miss the batch, and count as paused. ``newest``: the newest times of the batch's records.
        ``waiting``: the partitions of which the batch has no record, although unread records exist. Raise
        CubeStoreError if nothing could be written; then the same call can be repeated.

        ``seam``: the offsets between which a backfill reads; None for a live batch. A backfill batch changes no mark,
        but sets the first mark of a time expression that has none. It changes only those cubes of ``partials`` that
        have none of the batch's offsets. The caller limits the panes of a backfill batch (:func:`in_portions`). If a
        live batch has too many panes, the keeper parks cubes.
        """
        with self._lock:
            before = self._current.sure()
            merger = self._merger(before)
            steps = BatchSteps(
                *(before, batch, of_bounded_panes(partials) if seam is None else partials, newest),
                waiting=waiting,
                clocks=before.clocks,
                merger=merger,
                late=LateCells(before.cells, self._changes),
                gap_numbers=self._gaps,
                seam=seam,
            )
            dropped = frozenset(partials.keys() - before.cubes.keys())
            if steps.is_repeat:
                return committed(None, steps.all(), dropped)
            number, cube_steps = before.commit + 1, steps.all()
            live = number if seam is None else before.batch
            # Add the replaced cells to the former snapshot before the pieces are deleted. A reader that does not find a
            # piece in the file then finds its cells in the snapshot.
            before.succeed({each: cells for step in cube_steps for each, cells in step.merged.gone.items()})
            with self._current.writing(number, live, steps.marks):
                for step in cube_steps:
                    self._saved.save(step.before, step.after, step.merged.added, step.merged.gone)
                    self._saved.mark_damaged(step.damaged)
                    for change, data in step.late:
                        self._saved.windows.add_change(step.after.number, change, data)
                self._saved.save_clocks(before.clocks, steps.clocks)
            clocks = {**before.clocks, **steps.clocks}
            self._current.swap(number, live, steps.marks, {step.after.id: step.after for step in cube_steps}, clocks)
            for step in cube_steps:
                self._keep(step.merged, step.after)
            self.shards.note(merger.seconds)
            return committed(number, cube_steps, dropped)

    def define(
        self,
        cube: CubeId,
        definition: CubeDefinition,
        output: Output | None = None,
        topic: str = "",
        *,
        since: int = -1,
        version: int = 0,
        pins: Collection[View] = (),
    ) -> bool:
        """Create the empty cube of a plan's query, and return True. Return False if the cube already exists, or if the
        plan is older than the existing cube.

        ``output``: the windows that the cube writes to ``topic``; if they differ from the windows of an existing cube,
        the cube starts with new windows. ``pins``: the views that are always materialised. ``since``: the registration
        of the query. Cubes of the query with another ``since`` or another generation are deleted. ``version``: the
        version of the plan. If a newer plan has already created another generation, nothing changes. Raise CubeError if
        the definition does not fit the records.
        """
        with self._lock:
            before = self._current.sure()
            known = [own for own in before.cubes.values() if own.id.query == cube.query and own.since == since]
            if any(own.id == cube for own in known):
                self._define_windows(self._mended(before, cube, definition), cube, output, topic)
                self.views.pin(cube, pins)
                return False
            if any(own.version > version for own in known):
                return False
            layout = self._saved.layout(definition)
            kept = {each: own for each, own in before.cubes.items() if each.query != cube.query}
            with self._current.writing(before.commit + 1, before.batch):
                for each in before.cubes.keys() - kept.keys():
                    self._store.remove(before.cubes[each].number)
                self._store.purge(_PURGED_AT_ONCE)
                kept[cube] = self._saved.add(cube, definition, layout, since, version)
                if output is not None:
                    windows = WindowState.beginning(topic, output, None, is_new=True)
                    kept[cube] = self._saved_windows(kept[cube], windows)
                kept[cube] = self.views.with_pins(kept[cube], pins)
            self._current.swap(before.commit + 1, before.batch, before.marks, kept)
            return True

    def remove(self, *queries: str) -> None:
        """Delete the cubes of queries, with all their stored data. Do nothing for a query without cubes.

        Some data of a large cube remain in the file until :meth:`purge` deletes them.
        """
        with self._lock:
            before = self._current.sure()
            kept = {each: own for each, own in before.cubes.items() if each.query not in queries}
            if len(kept) == len(before.cubes):
                return
            with self._current.writing(before.commit + 1, before.batch):
                for each in before.cubes.keys() - kept.keys():
                    self._store.remove(before.cubes[each].number)
                self._store.purge(_PURGED_AT_ONCE)
            self._current.swap(before.commit + 1, before.batch, before.marks, kept)

    def purge(self, limit_s: float) -> None:
        """Delete the data that deleted cubes still have in the file, for at most ``limit_s`` seconds. The deletion has
        small transactions, so that a concurrent commit waits for at most one of them.
        """
        until_s = time.monotonic() + limit_s
        has_more = True
        while has_more and time.monotonic() < until_s:
            with self._lock, self._store.transaction():
                has_more = self._store.purge(_PURGED_AT_ONCE)

    def pause(self, queries: Collection[str], reasons: Mapping[str, str] = MappingProxyType({})) -> None:
        """Mark the cubes of queries as stopped: from its watermark on, a stopped cube misses records until its next
        batch. Cubes that are stopped or parked already do not change.

        ``reasons``: by query, the reason why it is not served; a query without a reason is paused.
        """
        with self._lock:
            before = self._current.sure()
            states = [own for own in before.cubes.values() if own.id.query in queries and own.batch]
            stopped = [
                replace(own, stopped=reasons.get(own.id.query, PAUSED))
                for own in states
                if own.stopped is own.parked is None
            ]
            if stopped:
                with self._current.replacing(before, *stopped):
                    pass

    def resume(self, cube: CubeId) -> None:
        """Let a parked cube fold records again, and delete its damaged pieces. Do nothing if the cube is not parked.

        The records that the cube missed become a gap. Raise QueryError if the pieces no longer fit the types of the
        records.
        """
        with self._lock:
            before = self._current.sure()
            state = before.cube(cube)
            if state.parked is None:
                return
            if state.layout is None:
                raise QueryError("cube", cube.query, state.parked)
            gone = [piece.number for piece in state.pieces() if piece.is_damaged]
            panes, apart = state.panes.without_damage(), state.apart.without_damage()
            bands = tuple(band.without_damage() for band in state.bands)
            after = replace(state, parked=None, stopped=state.parked, panes=panes, apart=apart, bands=bands)
            # Readers of an older snapshot repeat their question, because they do not know that these pieces are
            # damaged.
            before.succeed(dict.fromkeys(gone))
            with self._current.replacing(before, after):
                self._saved.delete_pieces(gone)

    def want_backfill(self, cube: CubeId, is_wanted: bool = True) -> None:
        """Record durably whether a backfill of a cube is requested."""
        with self._lock:
            before = self._current.sure()
            state = before.cube(cube)
            if state.is_wanted != is_wanted:
                with self._current.replacing(before, replace(state, is_wanted=is_wanted)):
                    pass

    def revision(self, cube: CubeId, window: int, place: int) -> int:
        """Return the number of the last revision of a window. Return 0 if the window was written only once. ``window``:
        the number of the window. ``place``: the index of an output cuboid.
        """
        return self._saved.windows.revision(self.snapshot.cube(cube).number, window, place)

    def former_cells(self, layout: Layout, change: KeptChange) -> FormerCells:
        """Return the cells that a late change of windows replaced, as they were before the change. Raise
        DamagedFormerCellsError if they are damaged.
        """
        return self._saved.windows.former_cells(layout, change)

    def note(self, cube: CubeId, windows: WindowState, raised: Mapping[Unit, int]) -> None:
        """Record which windows of a cube Kafka has acknowledged (``windows``). ``raised``: the new revision numbers, by
        window and cuboid.

        A daemon that is killed before this call writes the same windows again. Raise CubeStoreError if the write fails.
        """
        with self._lock:
            before = self._current.sure()
            state = before.cube(cube)
            with self._current.writing(before.commit, before.batch):
                after = self._saved_windows(state, windows)
                self._saved.windows.save_revisions(state.number, raised)
            self._current.swap(before.commit, before.batch, before.marks, {**before.cubes, cube: after})

    def park(self, cube: CubeId, reason: str) -> None:
        """Park a cube, so that it misses records from its watermark on. Do nothing if the cube is already parked, or
        does not exist.

        The caller reports the reason; the stream logs it once.
        """
        with self._lock:
            before = self._current.sure()
            state = before.cubes.get(cube)
            if state is None or state.parked is not None:
                return
            with self._current.replacing(before, replace(state, parked=reason)):
                pass

    def park_damaged(self, cube: CubeId, number: int) -> None:
        """Park a cube because a question or the writer of windows found that the piece ``number`` is damaged.

        If the piece belongs to a view, the cube is not parked: the view is filled again.
        """
        with self._lock:
            before = self._current.sure()
            state = before.cubes.get(cube)
            view = None if state is None else state.view_of(number)
            if state is not None and view is not None:
                LOG.warning("a view of cube %s is damaged, and is filled again", cube.query)
                with self._current.replacing(before, state.without_pieces_of(view)):
                    return
            if state is None or all(piece.number != number or piece.is_damaged for piece in state.pieces()):
                return
            after = state.with_damage([number], self._gaps)
            with self._current.replacing(before, after):
                self._saved.mark_damaged([number])
            LOG.warning("cube %s is parked: %s", cube.query, after.parked)

    def park_damaged_change(self, cube: CubeId, number: int) -> None:
        """Park a cube because former cells of its windows, stored under the change ``number``, are damaged. Delete
        these cells; the windows continue without them.
        """
        with self._lock:
            before = self._current.sure()
            state = before.cubes.get(cube)
            windows = None if state is None else state.windows
            gone = None if windows is None else next((each for each in windows.changes if each.number == number), None)
            if state is None or windows is None or gone is None:
                return
            # Begin a new revision of a partly written window, because its remaining rows would not fit those already
            # written.
            unit = windows.partly_written(gone)
            raised = {} if unit is None else {unit: self.revision(cube, *unit) + 1}
            after = state.with_damaged_change(gone, raised, self._gaps)
            with self._current.replacing(before, after):
                self._saved.windows.save_revisions(state.number, raised)
            LOG.warning("cube %s is parked: %s", cube.query, after.parked)

    def dump(self, cancellation: Cancellation | None = None) -> Dump:
        """Return a copy of the file of cubes, from which another daemon can start. Raise the errors of
        :meth:`Dumps.make`.
        """
        return self._dumps.make(cancellation or Cancellation())

    def close(self) -> None:
        """Close the file. Snapshots cannot be used afterwards."""
        with self._lock:
            self._store.close()
            self.shards.close()

    def _merger(self, snapshot: Snapshot) -> PaneMerger:
        read = snapshot.cells, snapshot.all_cells
        return PaneMerger(self._limits, *read, self._pieces, self.shards.threads)

    def _mended(self, before: Snapshot, cube: CubeId, definition: CubeDefinition) -> Snapshot:
        """Write the definition of an existing cube again if it is damaged in the file, and return the current snapshot.

        The generation of the cube is a hash of its definition, so the existing pieces fit the definition that is
        written.
        """
        state = before.cubes[cube]
        if state.definition == definition:
            return before
        with self._current.writing(before.commit, before.batch):
            self._saved.save_definition(state.number, definition)
        LOG.warning("cube %s: its definition was damaged in the file of cubes, and is written anew", cube.query)
        return self._current.read_again()

    def _define_windows(self, before: Snapshot, cube: CubeId, output: Output | None, topic: str) -> None:
        """Replace the windows of an existing cube if the windows or their topic have changed. Remove the windows if
        ``output`` is None.
        """
        state = before.cubes[cube]
        own = state.windows
        if own is None if output is None else own is not None and own.is_of(topic, output):
            return
        windows = None
        if output is not None:
            open_from = first_open(before.marks.get(state.time), self._lateness_us, state.grain_us)
            is_new = next(state.panes.pieces(), None) is None
            windows = WindowState.beginning(topic, output, open_from, is_new=is_new)
        with self._current.writing(before.commit, before.batch):
            after = self._saved_windows(state, windows)
        self._current.swap(before.commit, before.batch, before.marks, {**before.cubes, cube: after})

    def _saved_windows(self, state: CubeState, windows: WindowState | None) -> CubeState:
        self._saved.windows.save(state.number, state.windows, windows, state.definition)
        return replace(state, windows=windows)

    def _keep(self, merged: Merged, after: CubeState) -> None:
        """Cache the new cells of open panes, because the next batches merge these cells and live questions read them.
        Remove the cells of deleted pieces from the cache.
        """
        for number in merged.gone:
            self._reader.forget(number)
        for new in merged.added:
            if new.cells is not None and new.stored.pane in after.panes.open:
                self._reader.keep((new.stored.number,), new.cells)
