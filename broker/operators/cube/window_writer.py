"""The writer of windows: it sends the rows of final windows and of revisions to Kafka. After Kafka has acknowledged the
rows, it records the windows as written.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from asc.operators.cube.cells import Cells
from asc.operators.cube.layout import Layout
from asc.operators.cube.revisions import RevisionLimits, Revisions, Unit
from asc.operators.cube.sliding import Following
from asc.operators.cube.window_rows import WindowWriting
from asc.operators.cube.windows import Windows
from broker.errors import BrokerError, DamagedFormerCellsError, DamagedPieceError, TooLargeWindowError
from broker.operators.cube.batch_time import first_open
from broker.operators.cube.cube_state import CubeId, CubeState
from broker.operators.cube.first_limits import FirstLimits
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.late_windows import LateWindows
from broker.operators.cube.snapshot import Snapshot
from broker.operators.cube.window_sender import WindowSender
from broker.operators.cube.window_state import WindowState

LOG = logging.getLogger("asc.cubes")

_NONE: Mapping[Unit, int] = MappingProxyType({})


class WindowWriter:
    """The writer of the windows of one stream's cubes. It is called before and after each commit.

    Rows are sent, then acknowledged, then recorded. If the process is killed in between, the next process sends the
    same bytes again, from the same commit. Invariant: if the writer is called before each commit, no row is sent again
    from a later commit. The work of one commit is limited; the next commit or :meth:`write_left` continues.
    """

    def __init__(
        self,
        keeper: Keeper,
        sender: WindowSender,
        outputs: Counter[str],
        limits: RevisionLimits | None = None,
        first_limits: FirstLimits | None = None,
    ) -> None:
        """Create the writer, which reads from a keeper and writes through a sender. ``outputs`` counts the recorded
        rows by kind.

        ``limits``: the limits of revisions in each commit. ``first_limits``: the limits of windows written for the
        first time.
        """
        self._keeper = keeper
        self._sender = sender
        self._outputs = outputs
        self._limits = RevisionLimits() if limits is None else limits
        self._first_limits = FirstLimits() if first_limits is None else first_limits
        self._refused: set[CubeId] = set()

    def write(self, cubes: Iterable[CubeId]) -> Mapping[str, str]:
        """Send the rows that are due for some cubes. Park the cubes whose windows cannot be written, and return the ids
        of their queries with the reasons. Raise KafkaError, and CubeStoreError.

        A call before a commit sends the rows that were not recorded after the last commit. Consumers may already have
        these rows.
        """
        return self._written(cubes, self._write)

    def write_left(self, cubes: Iterable[CubeId]) -> Mapping[CubeId, str]:
        """Send the rows that the last commit left for some cubes because of limits. Return the cubes whose windows
        cannot be written, with the reasons.

        For a parked cube, only revisions of windows already written are sent. This removes former cells, so a cube that
        is parked for too many bytes gets smaller. After a failure, revisions of a parked cube are not sent again.
        """
        refused: dict[CubeId, str] = {}
        for cube in cubes:
            reasons = self._written([cube], self._go_on)
            refused.update(dict.fromkeys([cube], *reasons.values()) if reasons else {})
        return refused

    def _go_on(self, cube: CubeId) -> None:
        state = self._keeper.snapshot.cubes.get(cube)
        windows = None if state is None else state.windows
        if state is None or windows is None or not _is_writable(state):
            return
        if state.parked is not None and (cube in self._refused or not windows.changes):
            return
        left = (
            windows.touched()
            if state.parked is None
            else replace(windows, is_due=windows.is_due or bool(windows.changes))
        )
        if windows.has_left and left is not windows:
            # Record the state before a row is sent. If the process is killed, the next process repeats the rows before
            # the next commit.
            self._keeper.note(cube, left, _NONE)
        self._write(cube)

    def _written(self, cubes: Iterable[CubeId], write: Callable[[CubeId], None]) -> Mapping[str, str]:
        refused: dict[str, str] = {}
        for cube in cubes:
            try:
                write(cube)
            except DamagedPieceError as error:
                self._keeper.park_damaged(cube, error.number)
                refused[cube.query] = self._parked_reason(cube, str(error))
            except DamagedFormerCellsError as error:
                self._keeper.park_damaged_change(cube, error.number)
                refused[cube.query] = self._parked_reason(cube, str(error))
            except TooLargeWindowError as error:
                refused[cube.query] = self._parked(cube, str(error))
            except BrokerError:
                raise
            except Exception as error:
                # The failure of one cube must not stop the stream, because it would repeat in every batch.
                LOG.warning("windows of cube %s cannot be computed", cube.query, exc_info=True)
                detail = f"its windows cannot be computed, {type(error).__name__}: {error}"
                refused[cube.query] = self._parked(cube, detail.splitlines()[0])
        return refused

    def _parked(self, cube: CubeId, reason: str) -> str:
        """Park a cube whose rows cannot be written, and return the reason why it is parked. A cube that was parked
        before keeps its reason.
        """
        if self._parked_reason(cube, "") not in ("", reason):
            LOG.warning("windows of cube %s are not written: %s", cube.query, reason)
        self._keeper.park(cube, reason)
        self._refused.add(cube)
        return self._parked_reason(cube, reason)

    def _parked_reason(self, cube: CubeId, otherwise: str) -> str:
        return self._keeper.snapshot.cube(cube).parked or otherwise

    def _write(self, cube: CubeId) -> None:
        snapshot = self._keeper.snapshot
        state = snapshot.cubes.get(cube)
        if state is None or state.windows is None or state.layout is None:
            return
        if state.parked is None:
            self._refused.discard(cube)
        open_from = first_open(snapshot.marks.get(state.time), snapshot.lateness_us, state.grain_us)
        # Write no new windows of a parked cube, because it lacks records: the watermark that makes windows final
        # advances with other cubes.
        due_to = state.windows.due_to(open_from) if state.parked is None else None
        if (due_to is None and not state.windows.is_due) or not _is_writable(state):
            return
        writing = WindowWriting(cube.query, cube.generation, state.layout, state.windows.output)
        cells = _StateCells(snapshot, state, state.layout)
        windows = Windows(writing, cells.read, cells.is_whole)
        window_state = state.windows
        if window_state.is_due:
            revisions = Revisions(
                *(windows, writing, cells.read),
                late=LateWindows(self._keeper, window_state, state.layout),
                written=window_state.written or 0,
                position=window_state.position,
                revision=lambda number, place: self._keeper.revision(cube, number, place),
                limits=self._limits,
            )
            window_state = self._revise(cube, window_state, revisions)
        if due_to is not None:
            self._finish(cube, window_state, windows, cells, due_to)

    def _revise(self, cube: CubeId, own: WindowState, revisions: Revisions) -> WindowState:
        revised = revisions.rows()
        sent = self._sender.send(own.topic, cube.query, revised.rows)
        return self._noted(cube, own.revised(revised.position, revised.raised), sent, revised.raised)

    def _finish(
        self, cube: CubeId, window_state: WindowState, windows: Windows, cells: _StateCells, due_to: int
    ) -> None:
        """Write the windows up to ``due_to``, or fewer if a limit of one commit is reached. Then one transaction
        records the written windows. If it fails, the next call writes the same windows again.
        """
        sent: Counter[str] = Counter()
        count, done, read_before, is_behind = window_state.count, 0, cells.count, False
        for number in window_state.output.sliding.due(cells.following, window_state.written, due_to):
            rows = self._sender.send(window_state.topic, cube.query, windows.rows(number, window_state.first_window))
            count += rows["window"] > 0
            sent += rows
            done += len(window_state.output.cuboids)
            if number < due_to and self._first_limits.are_reached(sent.total(), done, cells.count - read_before):
                due_to, is_behind = number, True
                break
        self._noted(cube, replace(window_state, written=due_to, is_behind=is_behind, count=count), sent)

    def _noted(
        self, cube: CubeId, after: WindowState, sent: Counter[str], raised: Mapping[Unit, int] = _NONE
    ) -> WindowState:
        """Record the windows of a cube whose rows are acknowledged, and return the new state. ``sent``: the number of
        rows by kind. ``raised``: the revision numbers that were used.
        """
        if sent:
            self._sender.flush(after.topic)
        self._keeper.note(cube, after, raised)
        self._outputs.update(sent)
        return after


def _is_writable(state: CubeState) -> bool:
    """Return whether windows of a cube can be computed. They cannot if the cube has no layout, or is parked with a
    damaged piece.
    """
    has_pieces = state.parked is None or not any(piece.is_damaged for piece in state.pieces())
    return state.layout is not None and has_pieces


class _StateCells:
    """The reader of the cells and gaps of a cube after a commit. ``count``: the number of cells read so far."""

    def __init__(self, snapshot: Snapshot, state: CubeState, layout: Layout) -> None:
        self._snapshot = snapshot
        self._state = state
        self._layout = layout
        self._gaps = list(state.all_gaps(snapshot.batch, snapshot.ends))
        self.following: Following = state.panes.closed.following
        self.count = 0

    def read(self, first: int, end: int) -> list[Cells]:
        # Read open panes as well: after the allowed lateness was raised, some panes of a written window are open again.
        parts = self._snapshot.parts(self._state, self._layout, first, end)
        found = [own.between(first, end) for own in parts]
        self.count += sum(own.count for own in found)
        return found

    def is_whole(self, first: int, end: int) -> bool:
        first_us, end_us = first * self._state.grain_us, end * self._state.grain_us
        return not any(gap.overlaps(first_us, end_us) for gap in self._gaps)
