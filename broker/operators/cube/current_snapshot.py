"""The current snapshot of the cubes of a store, and the transactions that replace it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from broker.errors import CubeStoreError
from broker.operators.cube.batch_time import Clock
from broker.operators.cube.coverage import Place
from broker.operators.cube.cube_state import CubeId, CubeState
from broker.operators.cube.new_piece import NewPiece
from broker.operators.cube.reading import PieceReader
from broker.operators.cube.restored import restored, restored_again
from broker.operators.cube.saving import SavedCubes
from broker.operators.cube.snapshot import Snapshot
from broker.operators.cube.store import Store


class CurrentSnapshot:
    """The holder of the current snapshot of the cubes of a store. ``now``: the snapshot after the last transaction.
    Only the thread that holds the keeper's lock replaces the snapshot.

    Invariant: each change begins with a snapshot that equals the content of the store. After a failed transaction it is
    unknown whether the transaction was written, so the next change reads the store again.
    """

    def __init__(self, store: Store, saved: SavedCubes, lateness_us: int, reader: PieceReader) -> None:
        self._store = store
        self._saved = saved
        self._lateness_us = lateness_us
        self._reader = reader
        self.now = self._loaded()
        self._is_unsure = False

    def sure(self) -> Snapshot:
        """Return the current snapshot. After a failed transaction, read the snapshot from the store again, because the
        transaction may have been written.
        """
        return self.read_again() if self._is_unsure else self.now

    def read_again(self) -> Snapshot:
        """Read the current snapshot from the store, and return it."""
        found = self._loaded(self.now.cubes)
        self.now.precede(found)
        self.now, self._is_unsure = found, False
        return found

    @contextmanager
    def writing(self, commit: int, batch: int, marks: Mapping[str, int] = MappingProxyType({})) -> Iterator[None]:
        """Execute the writes of the context and the write of the following values in one transaction. ``commit``: the
        number of the last commit. ``batch``: the commit of the stream's last batch. ``marks``: the mark by time
        expression, in microseconds since the epoch. Raise CubeStoreError if the write fails.
        """
        try:
            with self._store.transaction():
                yield
                self._saved.save_stream(commit, batch, marks)
        except CubeStoreError:
            self._is_unsure = True
            raise

    @contextmanager
    def replacing(
        self, before: Snapshot, *states: CubeState, added: Iterable[NewPiece] = ()
    ) -> Iterator[dict[CubeId, CubeState]]:
        """Write states of cubes that change without a batch, in one transaction with the writes of the context. Then
        replace the snapshot ``before``. ``added``: the new pieces, if ``states`` contains exactly one state.

        Yield the states by cube. The context may add states that it can compute only within the transaction.
        """
        changed = {own.id: own for own in states}
        with self.writing(before.commit + 1, before.batch):
            yield changed
            for cube, own in changed.items():
                self._saved.save(before.cubes[cube], own, added, ())
        self.swap(before.commit + 1, before.batch, before.marks, {**before.cubes, **changed})

    def swap(
        self,
        commit: int,
        batch: int,
        marks: Mapping[str, int],
        cubes: Mapping[CubeId, CubeState],
        clocks: Mapping[str, Clock] | None = None,
    ) -> None:
        """Replace the current snapshot after a transaction. ``clocks``: the clock by time expression; None keeps the
        clocks of the current snapshot.
        """
        numbers, own = {"commit": commit, "batch": batch}, self.now.clocks if clocks is None else clocks
        found = Snapshot(numbers, marks, self._lateness_us, cubes, clocks=own, store=self._store, reader=self._reader)
        self.now.precede(found)
        self.now = found

    def note_restored(self, read_to: Mapping[Place, int]) -> None:
        """Compare the cubes with the offsets ``read_to`` up to which the stream has committed batches. Each cube that
        has read less reports a gap from its watermark on. This gap is only in memory, and the cube's next batch ends
        it.
        """
        before = self.now
        behind = restored(before.cubes, before.batch, read_to)
        if behind:
            self.swap(before.commit, before.batch, before.marks, {**before.cubes, **behind})

    def _loaded(self, former: Mapping[CubeId, CubeState] = MappingProxyType({})) -> Snapshot:
        """Return the snapshot of the store. ``former``: the cubes in memory before the store is read again; empty at a
        start.
        """
        cubes, marks = self._saved.cubes(), self._saved.marks()
        cubes |= restored_again(cubes, former)
        own = self._saved.numbers(), marks, self._lateness_us, cubes
        return Snapshot(*own, clocks=self._saved.clocks(), store=self._store, reader=self._reader)
